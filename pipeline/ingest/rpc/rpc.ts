import { setMaxListeners } from 'node:events'
import { type Address, parseAddress } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { pause } from '../../runtime/pause.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { createHttpPost } from './http-post.ts'

/** What the service asks a Solana RPC server (rule J10), at `confirmed`. Every call is tried again until its attempts are used up. */
export interface SolanaRpc {
  /** Asks once. Rejects with `unreachable` when nothing that speaks JSON-RPC answers within 4 s. */
  ping(): Promise<void>
  /** The newest confirmed slot. */
  getSlot(): Promise<number>
  /** Confirmed slots that have a block, `from` and `to` included, in order; servers take 500,000 numbers at most. */
  getBlocks(from: number, to: number): Promise<number[]>
  /** `absent`: the chain has no such block, or this server lost it. `not_yet`: ask again. */
  getBlock(slot: number): Promise<RpcBlock | 'absent' | 'not_yet'>
  /** Accounts in the order of the addresses, 100 at most; null for one that does not exist. */
  getMultipleAccounts(addresses: readonly Address[]): Promise<(RpcAccount | null)[]>
  /** Ends what is under way and refuses what comes. */
  close(): void
}

/** Accounts with the slot as of which they are told. */
export interface AccountsRpc {
  /** As `getMultipleAccounts` of `SolanaRpc`. A server that has not reached slot `minContextSlot` is asked again. */
  getAccountsAt(
    addresses: readonly Address[],
    minContextSlot?: number,
  ): Promise<{ readonly slot: number; readonly accounts: readonly (RpcAccount | null)[] }>
}

/** What a backfill asks besides (rule J10), at `confirmed`, with the same patience. */
export interface HistoryRpc {
  /**
   * Transactions that name the address, failed ones too, the newest first, 1000 at most. `before` is any transaction of the chain: only what is older
   * comes; what is as old as `until`, or older, does not. A server that has not reached slot `minContextSlot` is asked again.
   */
  getSignaturesForAddress(
    address: Address,
    page: {
      readonly limit: number
      readonly before?: string | undefined
      readonly until?: string | undefined
      readonly minContextSlot?: number | undefined
      /** Default `confirmed`. */
      readonly commitment?: 'confirmed' | 'finalized'
    },
  ): Promise<SignatureInfo[]>
  /** The answer in encoding `json` as it came; null when this server does not have the transaction. */
  getTransaction(signature: string): Promise<unknown>
  /** Signatures of a block in its order, with its time. `absent`, `not_yet`: as of `getBlock`. */
  getBlockSignatures(slot: number): Promise<BlockSignatures | 'absent' | 'not_yet'>
  /** Unix seconds of a block; null when the server has none of that slot. */
  getBlockTime(slot: number): Promise<number | null>
  /** The oldest block that the server has; null when it does not say (the method is not asked of a server, rule J10). */
  getFirstAvailableBlock(): Promise<number | null>
  /** Token accounts that the owner has now, of both token programs. */
  getTokenAccountsByOwner(owner: Address): Promise<Address[]>
}

/** What payments are found by (rule J10), with the same patience. */
export interface PaymentRpc {
  /** What the owner's token accounts of a mint hold, in raw units, finalized, and the slot as of which that is told. */
  getTokenAmounts(
    owner: Address,
    mint: Address,
  ): Promise<{ readonly slot: number; readonly amounts: ReadonlyMap<Address, bigint> }>
}

export interface SignatureInfo {
  readonly signature: string
  readonly slot: number
  readonly failed: boolean
  /** Null when the server does not know it. */
  readonly blockTime: number | null
}

export interface BlockSignatures {
  readonly blockTime: number | null
  readonly signatures: readonly string[]
}

export interface RpcBlock {
  readonly slot: number
  readonly parent: number
  readonly blockTime: number
  /** Entries of `getBlock` in encoding `json`, in the order of the block. */
  readonly transactions: readonly unknown[]
}

export interface RpcAccount {
  readonly owner: string
  readonly data: Uint8Array
}

export interface RpcOptions {
  readonly url: string
  readonly metrics: Pick<IngestMetrics, 'rpcRequests'>
  readonly concurrency?: number
  readonly timeoutMs?: number
  /** Tries of one call. */
  readonly attempts?: number
  /** First pause between tries; it doubles, up to 5 s. */
  readonly backoffMs?: number
  /** Largest answer that is read, in bytes. */
  readonly maxAnswer?: number
  /** Told of every request that is sent. */
  readonly onRequest?: (body: string) => void
}

/**
 * JSON-RPC over plain HTTP: `Connection` of @solana/web3.js heeds no Retry-After, has no time limit, and rebuilds a block into classes field by
 * field, which the normaliser would have to take apart again.
 * Rejects with a retriable ServiceError `unavailable` that names the method, never the URL (it may hold a key).
 */
export function createRpc(options: RpcOptions): SolanaRpc & HistoryRpc & AccountsRpc & PaymentRpc {
  const { url, metrics, concurrency = 8, timeoutMs = 30_000, attempts = 8 } = options
  const { backoffMs = 200, maxAnswer = 256 * 1024 * 1024, onRequest } = options
  const closed = new AbortController()
  setMaxListeners(0, closed.signal) // one a call that pauses
  const turns = createTurns(concurrency)
  const http = createHttpPost(url, maxAnswer)

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    let failure: Failure | null = null
    for (let attempt = 0; attempt < attempts; attempt++) {
      const wait = failure
      if (wait !== null && wait.retryAfterMs === null) await rest(attempt, wait)
      if (closed.signal.aborted) break
      const answer = await turns(async () => {
        // Whoever is told to wait keeps its turn, so that a server that is asked too much is asked less.
        if (wait !== null && wait.retryAfterMs !== null) await rest(attempt, wait)
        return ask(method, params)
      })
      metrics.rpcRequests.inc({ method, outcome: answer.kind })
      if (answer.kind === 'result') return answer.result
      if (answer.kind === 'error') throw new RpcError(method, answer.code, answer.message)
      failure = answer
    }
    const why = closed.signal.aborted ? 'closed' : (failure?.message ?? 'no answer')
    throw new ServiceError('unavailable', `SOLANA_RPC_URL: ${method} failed: ${why}`, {
      retriable: true,
      context: { method },
    })
  }

  function rest(attempt: number, failure: Failure): Promise<void> {
    const ms = failure.retryAfterMs ?? Math.min(backoffMs * 2 ** (attempt - 1), 5000)
    return pause(ms, closed.signal)
  }

  async function ask(
    method: string,
    params: readonly unknown[],
    withinMs = timeoutMs,
  ): Promise<Answer> {
    const sent = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    onRequest?.(sent)
    try {
      const { status, retryAfter, body } = await http.post(sent, withinMs)
      if (status === 429 || status >= 500) {
        const retryAfterMs = readRetryAfter(retryAfter, Date.now())
        return { kind: 'failed', message: `HTTP status ${status}`, retryAfterMs }
      }
      return readAnswer(body, status)
    } catch (error) {
      return { kind: 'failed', message: messageOf(error), retryAfterMs: null }
    }
  }

  async function accountsAt(addresses: readonly Address[], minContextSlot?: number) {
    const config = { commitment: 'confirmed', encoding: 'base64', minContextSlot }
    const answer = await call('getMultipleAccounts', [addresses, config])
    const { value, context } = isRecord(answer) ? answer : {}
    if (!Array.isArray(value) || value.length !== addresses.length || !isRecord(context)) {
      throw unexpected('getMultipleAccounts')
    }
    return {
      slot: count(context.slot, 'getMultipleAccounts'),
      accounts: value.map(readAccount),
    }
  }

  async function tokenAccounts(
    owner: Address,
    filter: { readonly mint: Address } | { readonly programId: string },
    commitment: 'confirmed' | 'finalized',
    dataSlice: { readonly offset: number; readonly length: number },
  ) {
    const config = { commitment, encoding: 'base64', dataSlice }
    const answer = await call('getTokenAccountsByOwner', [owner, filter, config])
    const { value, context } = isRecord(answer) ? answer : {}
    if (!Array.isArray(value) || !isRecord(context)) throw unexpected('getTokenAccountsByOwner')
    const accounts = value.map((found) => {
      const address = isRecord(found) ? parseAddress(String(found.pubkey)) : null
      if (address === null) throw unexpected('getTokenAccountsByOwner')
      return { address, account: found.account as unknown }
    })
    return { slot: count(context.slot, 'getTokenAccountsByOwner'), accounts }
  }

  return {
    async ping() {
      const answer = await ask('getSlot', [{ commitment: 'confirmed' }], 4000)
      if (answer.kind !== 'failed' || answer.retryAfterMs !== null) return
      const message = `SOLANA_RPC_URL: the server cannot be reached: ${answer.message}`
      throw new ServiceError('unreachable', message, { retriable: true })
    },
    async getSlot() {
      return count(await call('getSlot', [{ commitment: 'confirmed' }]), 'getSlot')
    },
    async getBlocks(from, to) {
      const slots = await call('getBlocks', [from, to, { commitment: 'confirmed' }])
      if (!Array.isArray(slots)) throw unexpected('getBlocks')
      return slots.map((slot) => count(slot, 'getBlocks')).sort((a, b) => a - b)
    },
    async getBlock(slot) {
      return orMissing(async () => readBlock(await call('getBlock', [slot, BLOCK_OPTIONS]), slot))
    },
    async getSignaturesForAddress(address, page) {
      const config = { commitment: 'confirmed', ...page }
      const entries = await call('getSignaturesForAddress', [address, config])
      if (!Array.isArray(entries)) throw unexpected('getSignaturesForAddress')
      return entries.map(readSignatureInfo)
    },
    getTransaction: (signature) => call('getTransaction', [signature, TRANSACTION_OPTIONS]),
    async getBlockSignatures(slot) {
      const options = { ...BLOCK_OPTIONS, transactionDetails: 'signatures' }
      return orMissing(async () => {
        const json = await call('getBlock', [slot, options])
        if (json === null) return 'not_yet'
        if (!isRecord(json) || !Array.isArray(json.signatures)) throw unexpected('getBlock')
        const { blockTime, signatures } = json
        return { blockTime: blockTime == null ? null : count(blockTime, 'getBlock'), signatures }
      })
    },
    async getBlockTime(slot) {
      const time = await orMissing(() => call('getBlockTime', [slot]))
      return time === null || typeof time === 'string' ? null : count(time, 'getBlockTime')
    },
    async getFirstAvailableBlock() {
      const slot = await call('getFirstAvailableBlock', []).catch((error: unknown) => {
        if (error instanceof RpcError) return null
        throw error
      })
      return slot === null ? null : count(slot, 'getFirstAvailableBlock')
    },
    async getTokenAccountsByOwner(owner) {
      const found = await Promise.all(
        TOKEN_PROGRAMS.map((programId) =>
          tokenAccounts(owner, { programId }, 'confirmed', { offset: 0, length: 0 }),
        ),
      )
      return found.flatMap(({ accounts }) => accounts.map(({ address }) => address))
    },
    async getTokenAmounts(owner, mint) {
      // A token account: 32 mint, 32 owner, u64 amount.
      const slice = { offset: 64, length: 8 }
      const { slot, accounts } = await tokenAccounts(owner, { mint }, 'finalized', slice)
      const amounts = accounts.map(({ address, account }) => {
        const data = Buffer.from(readAccount(account)?.data ?? [])
        // Some servers give the whole account, whatever slice is asked for.
        const at = data.length === slice.length ? 0 : slice.offset
        if (data.length < at + slice.length) throw unexpected('getTokenAccountsByOwner')
        return [address, data.readBigUInt64LE(at)] as const
      })
      return { slot, amounts: new Map(amounts) }
    },
    getMultipleAccounts: async (addresses) => (await accountsAt(addresses)).accounts,
    getAccountsAt: accountsAt,
    close() {
      closed.abort()
      http.close()
    },
  }
}

/** The server answered with a JSON-RPC error that trying again does not mend. */
class RpcError extends ServiceError {
  readonly rpcCode: number
  constructor(method: string, rpcCode: number, message: string) {
    super('unavailable', `SOLANA_RPC_URL: ${method} answered error ${rpcCode}: ${message}`, {
      context: { method, rpcCode },
    })
    this.rpcCode = rpcCode
  }
}

// Codes of JSON-RPC errors: agave rpc-client-types/src/custom_error.rs.
/** Block cleaned up; slot skipped; slot skipped or missing in long-term storage. */
const ABSENT = new Set([-32001, -32007, -32009])
/** Block not available for slot; block status not yet available. */
const NOT_YET = new Set([-32004, -32014])
/** Node unhealthy or behind; internal error; minimum context slot not reached. */
const PASSING = new Set([-32005, -32603, -32016, 429])

const BLOCK_OPTIONS = {
  commitment: 'confirmed',
  encoding: 'json',
  transactionDetails: 'full',
  maxSupportedTransactionVersion: 1,
  rewards: false,
}

/** The answer, or what the server says of a block that it cannot give. */
async function orMissing<T>(ask: () => Promise<T>): Promise<T | 'absent' | 'not_yet'> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (ABSENT.has(error.rpcCode)) return 'absent'
    if (NOT_YET.has(error.rpcCode)) return 'not_yet'
    throw error
  }
}

const TRANSACTION_OPTIONS = {
  commitment: 'confirmed',
  encoding: 'json',
  maxSupportedTransactionVersion: 1,
}

const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]

type Failure = {
  readonly kind: 'failed'
  readonly message: string
  readonly retryAfterMs: number | null
}
type Answer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | Failure

function readAnswer(body: string, status: number): Answer {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return { kind: 'failed', message: `no JSON, HTTP status ${status}`, retryAfterMs: null }
  }
  if (isRecord(answer) && isRecord(answer.error)) {
    const code = Number(answer.error.code)
    const message = String(answer.error.message).slice(0, 200)
    return PASSING.has(code)
      ? { kind: 'failed', message, retryAfterMs: null }
      : { kind: 'error', code, message }
  }
  if (isRecord(answer) && 'result' in answer) return { kind: 'result', result: answer.result }
  return { kind: 'failed', message: `no result, HTTP status ${status}`, retryAfterMs: null }
}

/** Of a name with several addresses the error of all of them has a code and no message. */
function messageOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  return reason.message || ('code' in reason ? String(reason.code) : reason.name)
}

/** `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3); at most 30 s are waited. */
function readRetryAfter(field: string | undefined, nowMs: number): number | null {
  if (field === undefined) return null
  const ms = /^[0-9]+$/.test(field.trim()) ? Number(field) * 1000 : Date.parse(field) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 30_000) : null
}

function readBlock(json: unknown, slot: number): RpcBlock | 'not_yet' {
  if (json === null) return 'not_yet'
  if (!isRecord(json) || !Array.isArray(json.transactions)) throw unexpected('getBlock')
  // A block whose time is not known yet is of no use: nothing is emitted without (rule B15).
  if (json.blockTime === null || json.blockTime === undefined) return 'not_yet'
  return {
    slot,
    parent: count(json.parentSlot, 'getBlock'),
    blockTime: count(json.blockTime, 'getBlock'),
    transactions: json.transactions,
  }
}

function readSignatureInfo(json: unknown): SignatureInfo {
  if (!isRecord(json) || typeof json.signature !== 'string')
    throw unexpected('getSignaturesForAddress')
  return {
    signature: json.signature,
    slot: count(json.slot, 'getSignaturesForAddress'),
    failed: (json.err ?? null) !== null,
    blockTime: typeof json.blockTime === 'number' ? json.blockTime : null,
  }
}

function readAccount(json: unknown): RpcAccount | null {
  if (json === null) return null
  if (!isRecord(json) || !Array.isArray(json.data) || typeof json.owner !== 'string') {
    throw unexpected('getMultipleAccounts')
  }
  return { owner: json.owner, data: Buffer.from(String(json.data[0]), 'base64') }
}

function count(value: unknown, method: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw unexpected(method)
  }
  return value
}

function unexpected(method: string): ServiceError {
  const message = `SOLANA_RPC_URL: ${method} answered in a form that is not Solana's`
  return new ServiceError('unavailable', message, { retriable: true, context: { method } })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Lets `most` tasks run at once; the rest wait in order. */
function createTurns(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
