import bs58 from 'bs58'
import type { WireConfig } from '../../pipeline/ingest/wire/wire-transaction.ts'
import type { RecordedTransaction } from './read-corpus.ts'
import type { JsonTransaction } from './to-grpc-update.ts'

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'

/**
 * A recorded transaction as if it had been sent in version 1, as RPC returns it in encoding `json`:
 * keys of lookup tables are the message's own, and compute budget instructions are its config. The
 * signatures stay, so they no longer verify. One that was recorded in version 1 stays as it is.
 */
export function asVersion1(recorded: RecordedTransaction): JsonTransaction {
  const json = recorded.json as unknown as JsonTransaction // the corpus's own format
  return json.version === 1 ? json : rewrite(recorded, json)
}

function rewrite(
  recorded: RecordedTransaction,
  { transaction, meta }: JsonTransaction,
): JsonTransaction {
  const { tx } = recorded
  const keys = tx.accountKeys.map((key) => bs58.encode(key))
  const isBudget = (programIndex: number) => keys[programIndex] === COMPUTE_BUDGET
  const kept = tx.instructions.filter(
    ({ programIndex, stackHeight }) => stackHeight > 1 || !isBudget(programIndex),
  )
  const named = new Set(kept.flatMap(({ programIndex, accounts }) => [programIndex, ...accounts]))
  const isDropped = (account: number) => isBudget(account) && !named.has(account)
  const { order, header } = orderOf(recorded, isDropped)
  const indexes = new Map(order.map((account, index) => [account, index]))
  const instructionJson = ({
    programIndex,
    accounts,
    data,
    stackHeight,
  }: (typeof kept)[number]) => ({
    programIdIndex: indexes.get(programIndex)!,
    accounts: Array.from(accounts, (account) => indexes.get(account)!),
    data: bs58.encode(data),
    stackHeight,
  })
  const groups: { top: (typeof kept)[number]; inner: (typeof kept)[number][] }[] = []
  for (const instruction of kept) {
    if (instruction.stackHeight === 1) groups.push({ top: instruction, inner: [] })
    else groups.at(-1)!.inner.push(instruction)
  }
  const balances = (of: (account: number) => bigint) => order.map((account) => Number(of(account)))
  const moved = (list: typeof meta.preTokenBalances) =>
    list?.map((one) => ({ ...one, accountIndex: indexes.get(one.accountIndex)! })) ?? null
  return {
    version: 1,
    transaction: {
      signatures: transaction.signatures,
      message: {
        header,
        accountKeys: order.map((account) => keys[account]!),
        recentBlockhash: transaction.message.recentBlockhash,
        instructions: groups.map(({ top }) => instructionJson(top)),
        transactionConfig: configOf(recorded, isBudget),
      },
    },
    meta: {
      ...meta,
      preBalances: balances((account) => tx.lamportsBefore(account)),
      postBalances: balances((account) => tx.lamportsAfter(account)),
      preTokenBalances: moved(meta.preTokenBalances),
      postTokenBalances: moved(meta.postTokenBalances),
      innerInstructions: tx.innerKept
        ? groups.flatMap(({ inner }, index) =>
            inner.length === 0 ? [] : { index, instructions: inner.map(instructionJson) },
          )
        : null,
      logMessages:
        tx.logs?.filter((line) => !line.startsWith(`Program ${COMPUTE_BUDGET} `)) ?? null,
      loadedAddresses: { writable: [], readonly: [] },
    },
  }
}

/** The order of the account keys in version 1, and the header that it makes. */
function orderOf(
  { tx, json }: RecordedTransaction,
  isDropped: (account: number) => boolean,
): {
  readonly order: readonly number[]
  readonly header: JsonTransaction['transaction']['message']['header']
} {
  const isWritable = writableOf(json as unknown as JsonTransaction, tx.signerCount)
  const accounts = tx.accountKeys.map((_, account) => account).filter((one) => !isDropped(one))
  const isSigner = (account: number) => account < tx.signerCount
  const pick = (signer: boolean, writable: boolean) =>
    accounts.filter((one) => isSigner(one) === signer && isWritable(one) === writable)
  const readonlySigners = pick(true, false)
  const readonlyOthers = pick(false, false)
  return {
    order: [...pick(true, true), ...readonlySigners, ...pick(false, true), ...readonlyOthers],
    header: {
      numRequiredSignatures: tx.signerCount,
      numReadonlySignedAccounts: readonlySigners.length,
      numReadonlyUnsignedAccounts: readonlyOthers.length,
    },
  }
}

/** Whether a transaction may write an account, in encodings `json` and `jsonParsed`. */
function writableOf({ transaction, meta }: JsonTransaction, signers: number) {
  const { accountKeys, header } = transaction.message
  const parsed = accountKeys as unknown as readonly { readonly writable?: boolean }[]
  if (header === undefined) return (account: number) => parsed[account]?.writable === true
  const own = accountKeys.length
  const { numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header
  return (account: number) => {
    if (account < signers) return account < signers - numReadonlySignedAccounts
    if (account < own) return account < own - numReadonlyUnsignedAccounts
    return account < own + (meta.loadedAddresses?.writable.length ?? 0)
  }
}

/** Default limit of compute units of an instruction, and maximum of a transaction. */
const UNITS_PER_INSTRUCTION = 200_000
const MOST_UNITS = 1_400_000
/** Limit of the loaded accounts' data where a transaction sets none, in bytes. */
const LOADED_BYTES = 64 * 1024 * 1024

/**
 * The config that has the effect of a transaction's compute budget instructions. Layout (solana-sdk
 * `compute-budget-interface`): u8 1 and u32 heap size; u8 2 and u32 unit limit; u8 3 and u64 price
 * of a unit in micro-lamports; u8 4 and u32 loaded accounts data size limit; and u8 0 with u32 unit
 * limit and u32 fee in lamports until 2022.
 */
function configOf(
  { tx }: RecordedTransaction,
  isBudget: (programIndex: number) => boolean,
): WireConfig {
  const top = tx.instructions.filter(({ stackHeight }) => stackHeight === 1)
  const others = top.filter(({ programIndex }) => !isBudget(programIndex)).length
  let computeUnitLimit = Math.min(UNITS_PER_INSTRUCTION * others, MOST_UNITS)
  let loadedAccountsDataSizeLimit = LOADED_BYTES
  let heapSize: number | null = null
  let price = 0n
  let fee = 0
  for (const { programIndex, data } of top) {
    if (!isBudget(programIndex)) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === 0) fee = bytes.readUInt32LE(5)
    if (bytes[0] === 0 || bytes[0] === 2) {
      computeUnitLimit = Math.min(bytes.readUInt32LE(1), MOST_UNITS)
    } else if (bytes[0] === 1) heapSize = bytes.readUInt32LE(1)
    else if (bytes[0] === 3) price = bytes.readBigUInt64LE(1)
    else if (bytes[0] === 4) loadedAccountsDataSizeLimit = bytes.readUInt32LE(1)
  }
  const priced = (price * BigInt(computeUnitLimit) + 999_999n) / 1_000_000n
  const priorityFee = fee + Number(priced)
  return { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize }
}
