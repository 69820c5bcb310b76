import { createDecoder, type Decoder } from '../../decode/decoder.ts'
import type { ProgramRegistry } from '../../decode/registry.ts'
import { type Address, addressFromBytes } from '../../domain/address.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { Transaction } from '../../domain/transaction.ts'
import { createWallets } from '../../domain/wallets.ts'
import { isRecord, RpcErrorResponse } from '../../ingest/rpc/json-rpc.ts'
import type { MintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import type { Refusals } from '../../ingest/rpc/refusals.ts'
import { pauseUnlessStopped, StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import type { TransactionIndexes } from '../../ingest/rpc/transaction-index.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import { normalizeRpc } from '../../ingest/wire/normalize-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { decodeRecords } from '../ingest/decode-records.ts'

/** Dependencies of fetching transactions. */
export interface FetchDeps {
  readonly rpc: Pick<HistoryRpc, 'getTransaction'>
  /** Indexes of transactions in their blocks. */
  readonly indexes: TransactionIndexes
  readonly decimals: MintDecimals
  /** Programs and labels for the decoder. */
  readonly programs: ProgramRegistry
  readonly metrics: IngestMetrics
  readonly logger: Logger
  /** When to give up decimals that RPC refuses. */
  readonly refusals: Refusals
}

/** A fetched transaction, decoded for one wallet. */
export interface FetchedTransaction {
  /** Records of the wallet, in event-key order. */
  readonly records: readonly WalletRecord[]
  /** Token accounts that the transaction shows to be the wallet's. */
  readonly accounts: readonly Address[]
}

/** A wallet and a decoder for it alone. */
export interface WalletDecoder {
  readonly wallet: number
  readonly address: Address
  readonly decoder: Decoder
}

/**
 * Number of attempts, and their pause, when a server lacks a transaction that another one listed.
 */
export const MISSING_TRIES = 3
/** See `MISSING_TRIES`; in milliseconds. */
export const MISSING_PAUSE_MS = 500

/** Creates a decoder for one wallet under its number. Other wallets have separate backfills. */
export function createWalletDecoder(
  wallet: number,
  address: Address,
  programs: ProgramRegistry,
): WalletDecoder {
  const alone = createWallets([address])
  const numbered = {
    size: wallet,
    numberOf: (text: string) => (alone.numberOf(text) === undefined ? undefined : wallet),
    numberOfKey: (key: Uint8Array) => (alone.numberOfKey(key) === undefined ? undefined : wallet),
    addressOf: () => address,
  }
  return { wallet, address, decoder: createDecoder(numbered, programs) }
}

/**
 * Fetches a transaction and decodes it for one wallet. Returns null when the server does not have
 * the transaction or its block, or refuses its version. A malformed transaction is counted and has
 * no records. Rejects with `unavailable` when RPC does not answer, with `StoppedError` after
 * `stop`.
 */
export async function fetchTransaction(
  info: SignatureInfo,
  wallet: WalletDecoder,
  deps: FetchDeps,
  stop: AbortSignal,
): Promise<FetchedTransaction | null> {
  for (let tries = 1; ; tries++) {
    refuseStopped(stop)
    const json = await deps.rpc.getTransaction(info.signature).catch(nullIfVersionRefused)
    if (isRecord(json)) {
      const fetched = await decodeJson(json, info, wallet, deps, stop)
      if (fetched !== null) return fetched
    }
    if (tries === MISSING_TRIES) return null
    await pauseUnlessStopped(MISSING_PAUSE_MS, stop)
  }
}

/** JSON-RPC error of a transaction version above `maxSupportedTransactionVersion` (agave). */
const UNSUPPORTED_VERSION = -32015

function nullIfVersionRefused(error: unknown): null {
  if (error instanceof RpcErrorResponse && error.rpcCode === UNSUPPORTED_VERSION) return null
  throw error
}

/** Throws `StoppedError` when the signal has aborted. */
export function refuseStopped(stop: AbortSignal): void {
  if (stop.aborted) throw new StoppedError()
}

/**
 * Decodes a `getTransaction` response; null when its place in its block, or its time, is unknown.
 */
async function decodeJson(
  json: Record<string, unknown>,
  info: SignatureInfo,
  { wallet, address, decoder }: WalletDecoder,
  deps: FetchDeps,
  stop: AbortSignal,
): Promise<FetchedTransaction | null> {
  const { indexes, metrics } = deps
  const slot = typeof json.slot === 'number' ? json.slot : info.slot
  // Nodes since 2026 return the index in the block; for older ones the block is asked for.
  const place =
    typeof json.transactionIndex === 'number'
      ? { index: json.transactionIndex, blockTime: null }
      : await indexes.of(slot, info.signature)
  const blockTime = firstNumber(json.blockTime, info.blockTime, place?.blockTime)
  if (place === null || blockTime === null) return null
  const tx = normalizeRpc(json, { slot, index: place.index })
  if (tx.kind === 'malformed') {
    metrics.malformed.inc({ reason: tx.reason })
    return { records: [], accounts: [] }
  }
  const records = await decodeRecords(decoder, tx, blockTime, { ...deps, stop })
  return {
    records: records.filter((record) => record.wallet === wallet),
    accounts: ownAccounts(tx, address),
  }
}

function firstNumber(...values: unknown[]): number | null {
  return values.find((value): value is number => typeof value === 'number') ?? null
}

function ownAccounts(tx: Transaction, owner: Address): Address[] {
  const indexes = new Set<number>()
  for (const balances of [tx.preTokenBalances, tx.postTokenBalances])
    for (const balance of balances) if (balance.owner === owner) indexes.add(balance.accountIndex)
  return [...indexes].flatMap((index) => {
    const key = tx.accountKeys[index]
    return key === undefined ? [] : [addressFromBytes(key)]
  })
}
