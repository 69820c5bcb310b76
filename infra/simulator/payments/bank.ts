import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { FailedTransactionMetadata as Failed, LiteSVM, TransactionMetadata } from 'litesvm'
import type { AccountState, OwnedTokenAccount } from '../chain.ts'
import { mintData } from '../market/accounts.ts'
import { TOKEN, TOKEN_2022, USDT_MINT } from '../market/programs.ts'
import { uiTokenAmount as uiTokenAmountOf } from '../market/transaction-info.ts'
import {
  encodeTransactionError,
  INSTRUCTION_ERRORS,
  TRANSACTION_ERRORS,
  type TransactionErrorJson,
} from '../rpc/transaction-error.ts'
import {
  readSentTransaction,
  type SentTransaction,
  TransactionRefused,
} from './sent-transaction.ts'
import { createAssociated, mintTo } from './token-instructions.ts'

type Meta = NonNullable<SubscribeUpdateTransactionInfo['meta']>
type TokenBalance = Meta['preTokenBalances'][number]

/**
 * Executes signed transactions with the real programs (System, Token, Token-2022, Associated Token,
 * Memo). Its accounts are separate from those of the market. Signatures are checked, blockhashes
 * are not.
 */
export interface Bank {
  /**
   * Executes a transaction and returns it with its outcome, index 0. Throws `TransactionRefused`
   * for one that cannot be run. With `keepFailed`, a transaction that fails is executed and
   * returned too.
   */
  execute(
    sent: SentTransaction,
    options: { readonly keepFailed: boolean },
  ): SubscribeUpdateTransactionInfo
  /** Sends lamports from the faucet to an account. */
  airdrop(to: PublicKey, lamports: bigint): SubscribeUpdateTransactionInfo
  /** Mints USDT, in raw units, to the associated account of an owner. */
  airdropUsdt(owner: PublicKey, amount: bigint): SubscribeUpdateTransactionInfo
  account(address: string): AccountState | null
  tokenAccounts(owner: string): OwnedTokenAccount[]
  /** Loads a program from the bytes of an ELF file. */
  addProgram(id: PublicKey, elf: Uint8Array): void
}

/**
 * Opens a bank. The faucet's 32-byte key mints USDT and pays fees. Rejects when `litesvm`, a
 * development dependency, is not installed.
 */
export async function openBank(faucetSecret: Uint8Array): Promise<Bank> {
  const { FailedTransactionMetadata, LiteSVM } = await import('litesvm')
  const svm = new LiteSVM().withBlockhashCheck(false)
  const faucet = Keypair.fromSeed(faucetSecret)
  const put = (key: PublicKey, owner: PublicKey, lamports: bigint, data: Uint8Array) =>
    svm.setAccount({
      address: kit(key),
      programAddress: kit(owner),
      data,
      executable: false,
      lamports: lamports as Parameters<LiteSVM['airdrop']>[1], // a branded bigint
      space: BigInt(data.length),
    })
  put(faucet.publicKey, SystemProgram.programId, FAUCET_LAMPORTS, new Uint8Array())
  put(USDT, new PublicKey(TOKEN.bytes), 1_461_600n, mintData(0n, 6, faucet.publicKey.toBytes()))
  let sentBySelf = 0
  const isFailed = (done: unknown) => done instanceof FailedTransactionMetadata
  const execute = createExecute(svm, isFailed)

  function bySelf(...instructions: readonly TransactionInstruction[]) {
    const tx = new Transaction().add(...instructions)
    const blockhash = Buffer.alloc(32)
    blockhash.writeUInt32LE(++sentBySelf) // makes each transaction unique
    tx.recentBlockhash = new PublicKey(blockhash).toBase58()
    tx.feePayer = faucet.publicKey
    tx.sign(faucet)
    return execute(readSentTransaction(tx.serialize()), { keepFailed: false })
  }

  return {
    execute,
    airdrop: (toPubkey, lamports) =>
      bySelf(SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey, lamports })),
    airdropUsdt(owner, amount) {
      const { account, instruction } = createAssociated(faucet.publicKey, owner, USDT)
      return bySelf(instruction, mintTo(USDT, account, faucet.publicKey, amount))
    },
    account(address) {
      const found = svm.getAccount(kit(new PublicKey(address)))
      if (!found.exists) return null
      const { lamports, programAddress, data } = found
      return { lamports, owner: programAddress, data: Buffer.from(data) }
    },
    tokenAccounts(owner) {
      return [TOKEN, TOKEN_2022].flatMap((program) =>
        svm.getProgramAccounts(kit(new PublicKey(program.bytes))).flatMap((found) => {
          const account = readTokenAccount(svm, found)
          return account?.owner === owner ? [account] : []
        }),
      )
    },
    addProgram: (id, elf) => svm.addProgram(kit(id), elf),
  }
}

function createExecute(svm: LiteSVM, isFailed: (done: unknown) => done is Failed): Bank['execute'] {
  return ({ signed, keys, messageBytes }, { keepFailed }) => {
    const parts = {
      messageBytes,
      signatures: Object.fromEntries(signed.signatures.map((bytes, at) => [keys[at], bytes])),
      // The cast is safe: litesvm brands the types of these two fields.
    } as unknown as Parameters<LiteSVM['sendTransaction']>[0]
    if (!keepFailed) {
      const tried = svm.simulateTransaction(parts)
      if (isFailed(tried)) throw refusal(tried)
    }
    const before = balancesOf(svm, keys)
    const done = svm.sendTransaction(parts)
    const after = balancesOf(svm, keys)
    if (!isFailed(done)) return infoOf(signed, done, null, before, after)
    // A transaction that never ran (bad signature, unfunded payer) is in no block; one that failed
    // has paid its fee.
    if (after.lamports[0] === before.lamports[0]) throw refusal(done)
    return infoOf(signed, done.meta(), done, before, after)
  }
}

const FAUCET_LAMPORTS = 100_000_000n * 1_000_000_000n
const USDT = new PublicKey(USDT_MINT.bytes)

interface Balances {
  readonly lamports: readonly bigint[]
  readonly tokens: readonly TokenBalance[]
}

type SvmAccount = ReturnType<LiteSVM['getProgramAccounts']>[number]

function balancesOf(svm: LiteSVM, keys: readonly string[]): Balances {
  const tokens = keys.flatMap((key, accountIndex): TokenBalance[] => {
    const found = svm.getAccount(kit(key))
    const account = found.exists ? readTokenAccount(svm, found) : null
    return account === null ? [] : [tokenBalance(account, accountIndex)]
  })
  return { lamports: keys.map((key) => BigInt(svm.getBalance(kit(key)) ?? 0n)), tokens }
}

/**
 * Reads a token account: 32 mint, 32 owner, u64 amount, ..., u8 state at 108; with extensions, u8
 * account type at 165 (2: token account). Returns null for any other account.
 */
function readTokenAccount(svm: LiteSVM, found: SvmAccount): OwnedTokenAccount | null {
  const { address, lamports } = found
  const program: string = found.programAddress
  if (program !== TOKEN.address && program !== TOKEN_2022.address) return null
  const data = Buffer.from(found.data)
  if (data.length < 165 || (data.length > 165 && data[165] !== 2) || data[108] === 0) return null
  const mint = new PublicKey(data.subarray(0, 32))
  const mintAccount = svm.getAccount(kit(mint))
  return {
    address,
    program,
    lamports,
    mint: mint.toBase58(),
    owner: new PublicKey(data.subarray(32, 64)).toBase58(),
    amount: data.readBigUInt64LE(64),
    decimals: mintAccount.exists ? (mintAccount.data[44] ?? 0) : 0,
  }
}

function refusal(failed: Failed): TransactionRefused {
  const reason = errorJson(failed)
  const why = typeof reason === 'string' ? reason : JSON.stringify(reason)
  return new TransactionRefused(
    `Transaction simulation failed: ${why}`,
    reason,
    failed.meta().logs(),
  )
}

/**
 * litesvm 1.5 numbers errors without data (`internal.d.ts`): the first in the order of bincode. Its
 * enums do not exist at run time.
 */
const NUMBERED_ERRORS = TRANSACTION_ERRORS.filter((name) => name !== 'InstructionError').slice(
  0,
  29,
)
const NUMBERED_CAUSES = INSTRUCTION_ERRORS.slice(0, INSTRUCTION_ERRORS.indexOf('Custom'))

/** The error of a failed transaction as RPC writes it. */
function errorJson(failed: Failed): TransactionErrorJson {
  const error = failed.err()
  if (typeof error === 'number') return NUMBERED_ERRORS[error] ?? 'SanitizeFailure'
  // Other errors, such as rent and duplicate instructions. No test distinguishes them.
  if (!('err' in error)) return 'SanitizeFailure'
  const cause = error.err()
  if (typeof cause === 'number')
    return { InstructionError: [error.index, NUMBERED_CAUSES[cause] ?? 'GenericError'] }
  return {
    InstructionError: [error.index, 'code' in cause ? { Custom: cause.code } : 'GenericError'],
  }
}

function infoOf(
  signed: SentTransaction['signed'],
  meta: TransactionMetadata,
  failed: Failed | null,
  before: Balances,
  after: Balances,
): SubscribeUpdateTransactionInfo {
  const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)
  const inner = meta.innerInstructions().map((list, index) => ({
    index,
    instructions: list.map((called) => ({
      programIdIndex: called.instruction().programIdIndex(),
      accounts: called.instruction().accounts(),
      data: called.instruction().data(),
      stackHeight: called.stackHeight(),
    })),
  }))
  return {
    signature: signed.signatures[0] ?? new Uint8Array(64),
    isVote: false,
    index: '0',
    transaction: signed,
    meta: {
      err: failed === null ? undefined : { err: encodeTransactionError(errorJson(failed)) },
      // The lamports that left all accounts: programs neither create nor burn lamports.
      fee: String(total(before.lamports) - total(after.lamports)),
      preBalances: before.lamports.map(String),
      postBalances: after.lamports.map(String),
      innerInstructions: inner.filter(({ instructions }) => instructions.length > 0),
      innerInstructionsNone: false,
      logMessages: meta.logs(),
      logMessagesNone: false,
      preTokenBalances: [...before.tokens],
      postTokenBalances: [...after.tokens],
      rewards: [],
      loadedWritableAddresses: [],
      loadedReadonlyAddresses: [],
      returnData: undefined,
      returnDataNone: true,
      computeUnitsConsumed: String(meta.computeUnitsConsumed()),
      costUnits: String(meta.computeUnitsConsumed()),
    },
  }
}

function tokenBalance(account: OwnedTokenAccount, accountIndex: number): TokenBalance {
  const { mint, owner, program: programId, amount, decimals } = account
  const uiTokenAmount = uiTokenAmountOf(amount, decimals)
  return { accountIndex, mint, owner, programId, uiTokenAmount }
}

/** An address in the branded type of litesvm. */
function kit(key: PublicKey | string): Parameters<LiteSVM['getAccount']>[0] {
  return String(key) as Parameters<LiteSVM['getAccount']>[0]
}
