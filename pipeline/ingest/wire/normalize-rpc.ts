import { type Address, addressFromBytes } from '../../domain/address.ts'
import { decodeBase58 } from '../../domain/base58.ts'
import type {
  Instruction,
  Malformed,
  MalformedReason,
  TokenBalance,
  Transaction,
} from '../../domain/transaction.ts'
import { encodeTransaction } from './encode-transaction.ts'
import { heightsFromLogs, type InnerGroup, listInstructions } from './instruction-list.ts'
import { compileParsedInstruction } from './parsed-instruction.ts'
import { readWireTransaction } from './wire-transaction.ts'

/** Where a transaction stands, for JSON that does not say: the entries of a `getBlock` answer. */
export interface RpcPlace {
  readonly slot?: number
  readonly index?: number
}

/**
 * The transaction of an RPC answer (`getTransaction`, or one entry of `getBlock` with its place), in any of the encodings `json`,
 * `jsonParsed`, `base64`, `base58`. What `place` does not tell is read from `slot` and `transactionIndex`; the index is 0 when
 * nobody knows it. `jsonParsed` names the instructions of System, Token, Associated Token and Memo by their fields: they are put
 * back into bytes; of other programs that the node parses (stake, vote, loaders) the bytes are gone and stay empty. Never throws.
 */
export function normalizeRpc(json: unknown, place: RpcPlace = {}): Transaction | Malformed {
  const root = record(json)
  const slot = place.slot ?? root?.slot
  const index = place.index ?? root?.transactionIndex ?? 0
  let signature: Uint8Array | null = null
  try {
    const signed = readSigned(root?.transaction)
    signature = signed.signature
    if (!isCount(slot) || !isCount(index)) throw new Fault('bad_place')
    const transaction = readOutcome(signed, root?.meta, slot, index)
    return { encoded: () => encodeTransaction(transaction, json), ...transaction }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return {
      kind: 'malformed',
      slot: isCount(slot) ? slot : null,
      index: isCount(index) ? index : null,
      signature,
      reason: error.reason,
    }
  }
}

/** How the readers below give up; never leaves this file. */
class Fault extends Error {
  readonly reason: MalformedReason
  constructor(reason: MalformedReason) {
    super(reason)
    this.reason = reason
  }
}

/** What was signed, with its instructions still as the encoding gives them. */
interface Signed {
  readonly signature: Uint8Array
  readonly keys: readonly Uint8Array[]
  /** Whether `keys` has the looked-up ones already. */
  readonly allKeys: boolean
  readonly signerCount: number
  readonly instructions: readonly unknown[]
}

function readSigned(transaction: unknown): Signed {
  if (typeof transaction === 'string') return readBytes(transaction, 'base58')
  if (Array.isArray(transaction)) return readBytes(transaction[0], transaction[1])
  const signed = record(transaction)
  const message = record(signed?.message)
  if (signed === undefined || message === undefined) throw new Fault('not_a_transaction')
  const signature = base58(list(signed.signatures, 'bad_signature')[0], 'bad_signature')
  if (signature.length !== 64) throw new Fault('bad_signature')
  const entries = list(message.accountKeys, 'bad_account_keys')
  const keys = entries.map((entry) => key(record(entry)?.pubkey ?? entry))
  const header = record(message.header)
  const signerCount =
    header?.numRequiredSignatures ?? entries.filter((e) => record(e)?.signer === true).length
  if (!isCount(signerCount) || signerCount < 1 || signerCount > keys.length) {
    throw new Fault('bad_account_keys')
  }
  return {
    signature,
    keys,
    allKeys: record(entries[0]) !== undefined,
    signerCount,
    instructions: list(message.instructions, 'bad_instruction'),
  }
}

function readBytes(text: unknown, encoding: unknown): Signed {
  if (typeof text !== 'string') throw new Fault('unknown_encoding')
  if (encoding !== 'base64' && encoding !== 'base58') throw new Fault('unknown_encoding')
  const bytes =
    encoding === 'base58' ? decodeBase58(text) : new Uint8Array(Buffer.from(text, 'base64'))
  const wire = bytes === null ? null : readWireTransaction(bytes)
  if (wire === null) throw new Fault('not_a_transaction')
  return { ...wire, allKeys: false }
}

function readOutcome(
  signed: Signed,
  rawMeta: unknown,
  slot: number,
  index: number,
): Omit<Transaction, 'encoded'> {
  const meta = record(rawMeta)
  if (meta === undefined) throw new Fault('no_meta')
  const loaded = record(meta.loadedAddresses)
  const accountKeys = signed.allKeys
    ? signed.keys
    : [...signed.keys, ...keysOf(loaded?.writable), ...keysOf(loaded?.readonly)]
  if (accountKeys.length > 256) throw new Fault('bad_account_keys')
  const before = lamports(meta.preBalances, accountKeys.length)
  const after = lamports(meta.postBalances, accountKeys.length)
  const preTokenBalances = tokenBalances(meta.preTokenBalances, accountKeys.length)
  const postTokenBalances = tokenBalances(meta.postTokenBalances, accountKeys.length)
  const logs =
    meta.logMessages == null ? null : list(meta.logMessages, 'not_a_transaction').map(String)
  return {
    kind: 'transaction',
    slot,
    index,
    signature: signed.signature,
    failed: (meta.err ?? record(meta.status)?.Err ?? null) !== null,
    accountKeys,
    signerCount: signed.signerCount,
    fee: integer(meta.fee, 'bad_balances'),
    lamportsBefore: (account) => before[account]!,
    lamportsAfter: (account) => after[account]!,
    tokenOwners: [...preTokenBalances, ...postTokenBalances].flatMap(({ owner }) => owner ?? []),
    preTokenBalances,
    postTokenBalances,
    instructions: readInstructions(signed.instructions, meta.innerInstructions, accountKeys, logs),
    innerKept: meta.innerInstructions != null,
    logs,
  }
}

function readInstructions(
  top: readonly unknown[],
  rawGroups: unknown,
  keys: readonly Uint8Array[],
  logs: readonly string[] | null,
): Instruction[] {
  const places = new KeyPlaces(keys)
  const read = (raw: unknown, stackHeight: number) => readInstruction(raw, places, stackHeight)
  let told = true
  const groups = (rawGroups == null ? [] : list(rawGroups, 'bad_instruction')).map((raw) => {
    const group = record(raw)
    if (!isCount(group?.index) || group.index >= top.length) throw new Fault('bad_instruction')
    const instructions = list(group.instructions, 'bad_instruction').map((inner) => {
      const height = record(inner)?.stackHeight
      if (!isCount(height)) told = false
      return read(inner, isCount(height) ? height : 2)
    })
    return { index: group.index, instructions } satisfies InnerGroup
  })
  const all = listInstructions(
    top.map((raw) => read(raw, 1)),
    groups,
  )
  if (told) return all
  return heightsFromLogs(all, logs, ({ programIndex }) => addressFromBytes(keys[programIndex]!))
}

/** Indexes of account keys by their text, which only some encodings ask for. */
class KeyPlaces {
  readonly count: number
  private readonly keys: readonly Uint8Array[]
  private byText: Map<string, number> | undefined

  constructor(keys: readonly Uint8Array[]) {
    this.keys = keys
    this.count = keys.length
  }

  indexOf(text: unknown): number {
    this.byText ??= new Map(this.keys.map((key, i) => [addressFromBytes(key), i]))
    const found = typeof text === 'string' ? this.byText.get(text) : undefined
    if (found === undefined) throw new Fault('bad_instruction')
    return found
  }
}

function readInstruction(raw: unknown, places: KeyPlaces, stackHeight: number): Instruction {
  const instruction = record(raw)
  if (instruction === undefined) throw new Fault('bad_instruction')
  if (instruction.programIdIndex !== undefined) {
    const programIndex = accountIndex(instruction.programIdIndex, places.count)
    const accounts = instruction.accounts
    return {
      programIndex,
      accounts:
        accounts instanceof Uint8Array && accounts.every((index) => index < places.count)
          ? accounts
          : Uint8Array.from(list(accounts, 'bad_instruction'), (a) =>
              accountIndex(a, places.count),
            ),
      data:
        instruction.data instanceof Uint8Array
          ? instruction.data
          : base58(instruction.data, 'bad_instruction'),
      stackHeight,
    }
  }
  const place = (text: unknown) => places.indexOf(text)
  const programIndex = place(instruction.programId)
  if (instruction.parsed === undefined) {
    const accounts = Uint8Array.from(list(instruction.accounts, 'bad_instruction'), place)
    return {
      programIndex,
      accounts,
      data: base58(instruction.data, 'bad_instruction'),
      stackHeight,
    }
  }
  const compiled = compileParsedInstruction(instruction.program, instruction.parsed)
  const accounts = Uint8Array.from(compiled.accounts, place)
  return { programIndex, accounts, data: compiled.data, stackHeight }
}

function tokenBalances(raw: unknown, keyCount: number): TokenBalance[] {
  if (raw == null) return []
  return list(raw, 'bad_token_balance').map((entry) => {
    const balance = record(entry)
    const amount = record(balance?.uiTokenAmount)
    const mint = address(balance?.mint)
    if (mint === null || !isCount(amount?.decimals) || amount.decimals > 255) {
      throw new Fault('bad_token_balance')
    }
    if (!isCount(balance?.accountIndex) || balance.accountIndex >= keyCount) {
      throw new Fault('bad_token_balance')
    }
    return {
      accountIndex: balance.accountIndex,
      mint,
      owner: address(balance.owner),
      amount: integer(amount.amount, 'bad_token_balance'),
      decimals: amount.decimals,
    }
  })
}

function lamports(raw: unknown, count: number): bigint[] {
  const values = list(raw, 'bad_balances')
  if (values.length !== count) throw new Fault('bad_balances')
  return values.map((value) => integer(value, 'bad_balances'))
}

/** A u64 as a JSON number (exact up to 2^53; what lies beyond has lost its last digits before it came here) or as text. */
function integer(value: unknown, reason: MalformedReason): bigint {
  if (typeof value === 'bigint' && value >= 0n) return value
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && /^[0-9]{1,20}$/.test(value)) return BigInt(value)
  throw new Fault(reason)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function accountIndex(value: unknown, count: number): number {
  if (!isCount(value) || value >= count) throw new Fault('bad_instruction')
  return value
}

/** Bytes of addresses seen lately: programs, pools, mints and the wallet itself come again and again. */
const known = new Map<string, Uint8Array>()
const MAX_KNOWN = 20_000
/** In characters. */
const LONGEST_ADDRESS = 44

function addressBytes(value: unknown): Uint8Array | null {
  if (typeof value !== 'string') return null
  const found = known.get(value)
  if (found !== undefined) return found
  const bytes = decodeBase58(value.slice(0, LONGEST_ADDRESS + 1))
  if (bytes?.length !== 32) return null
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(value, bytes)
  return bytes
}

function address(value: unknown): Address | null {
  return addressBytes(value) === null ? null : (value as Address) // it has 32 bytes
}

function key(value: unknown): Uint8Array {
  const bytes = addressBytes(value)
  if (bytes === null) throw new Fault('bad_account_keys')
  return bytes
}

function keysOf(raw: unknown): Uint8Array[] {
  return raw == null ? [] : list(raw, 'bad_account_keys').map(key)
}

function base58(value: unknown, reason: MalformedReason): Uint8Array {
  const bytes = typeof value === 'string' ? decodeBase58(value) : null
  if (bytes === null) throw new Fault(reason)
  return bytes
}

function list(value: unknown, reason: MalformedReason): readonly unknown[] {
  if (!Array.isArray(value)) throw new Fault(reason)
  return value
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Readonly<Record<string, unknown>> // an object that is no array has string keys
}
