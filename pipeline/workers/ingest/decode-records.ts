import type { Decoder } from '../../decode/decoder.ts'
import type { Address } from '../../domain/address.ts'
import {
  type BalanceRecord,
  KEPT_FORMAT,
  type KeptTransaction,
  MAX_KEPT_BYTES,
  type TokenAccountLink,
} from '../../domain/event.ts'
import type { DecodedRecord, WalletRecord } from '../../domain/slot.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { MintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { type Refusals, RpcRefusedError } from '../../ingest/rpc/refusals.ts'
import { retryUntilStopped } from '../../ingest/rpc/retry-until-stopped.ts'
import type { Logger } from '../../runtime/logger.ts'

/** Reasons of `undecoded` records of transactions with a mint of unknown decimals. */
export const NO_DECIMALS = ['unknown_decimals', 'refused_decimals'] as const
type NoDecimals = (typeof NO_DECIMALS)[number]

/** Dependencies of `decodeRecords`. */
export interface DecodeDeps {
  readonly decimals: MintDecimals
  readonly logger: Logger
  /** When to give up decimals that RPC refuses. */
  readonly refusals: Refusals
  /** Ends a wait for decimals: the call then rejects with `StoppedError`. */
  readonly stop: AbortSignal
}

/**
 * Returns the records of a transaction in event-key order, without SOL prices. The transaction
 * itself comes last when it gave an event or could not be decoded (rule K4). Live and fetched
 * transactions decode alike. The result is a promise only when RPC has to be asked for decimals
 * (rule J8).
 */
export function decodeRecords(
  decoder: Decoder,
  tx: Transaction,
  blockTime: number,
  deps: DecodeDeps,
): readonly WalletRecord[] | Promise<readonly WalletRecord[]> {
  const decoded = decoder.decode(tx, blockTime, deps.decimals.of)
  return decoded.kind === 'decoded'
    ? withKept(tx, decoded.records)
    : decodeWith(decoder, decoded.mints, tx, blockTime, deps)
}

/**
 * Adds the transaction itself, unless there are only links. It goes under the lowest wallet with an
 * event, so that it is on the log once.
 */
function withKept(tx: Transaction, records: readonly DecodedRecord[]): readonly WalletRecord[] {
  const first = records.find((record) => !isLink(record))
  if (first === undefined || isLink(first)) return records
  const { slot, txIndex, wallet, blockTime, signature } = first
  const encoded = tx.encoded()
  const isKept = encoded.length <= MAX_KEPT_BYTES
  const kept: KeptTransaction = {
    kind: 'kept',
    slot,
    txIndex,
    wallet,
    blockTime,
    signature,
    format: isKept ? KEPT_FORMAT.yellowstone : KEPT_FORMAT.tooLarge,
    bytes: isKept ? encoded : NO_BYTES,
  }
  return [...records, kept]
}

/** Whether a record says what an account held, and nothing else (rule K8). */
function isLink(record: DecodedRecord): record is BalanceRecord | TokenAccountLink {
  return record.kind === 'balance' || record.kind === 'token_link'
}

const NO_BYTES = new Uint8Array()

async function decodeWith(
  decoder: Decoder,
  mints: readonly Address[],
  tx: Transaction,
  blockTime: number,
  deps: DecodeDeps,
): Promise<readonly WalletRecord[]> {
  const reason = await loadDecimals(mints, deps)
  const decoded = decoder.decode(tx, blockTime, deps.decimals.of)
  const records =
    decoded.kind === 'decoded' ? decoded.records : withoutDecimals(decoder, tx, blockTime, reason)
  return withKept(tx, records)
}

/** Asks RPC for decimals. Returns why those that are still missing are. */
async function loadDecimals(mints: readonly Address[], deps: DecodeDeps): Promise<NoDecimals> {
  try {
    await retryUntilStopped(() => deps.decimals.load(mints), deps)
    return 'unknown_decimals'
  } catch (error) {
    if (!(error instanceof RpcRefusedError)) throw error
    deps.refusals.giveUp('mint')
    return 'refused_decimals'
  }
}

/**
 * Returns the records of a transaction with a mint whose decimals are unknown even to RPC, as for a
 * closed mint, or which RPC refuses to tell: the links, and one `undecoded` record for each wallet
 * with events (rule K7).
 */
function withoutDecimals(
  decoder: Decoder,
  tx: Transaction,
  blockTime: number,
  reason: NoDecimals,
): DecodedRecord[] {
  const guessed = decoder.decode(tx, blockTime, () => 0)
  const records: DecodedRecord[] = []
  let last = 0
  for (const record of guessed.kind === 'decoded' ? guessed.records : []) {
    if (isLink(record) || record.kind === 'undecoded') records.push(record)
    else if (record.wallet !== last) {
      const { slot, txIndex, wallet, signature } = record
      const recordFields = { slot, txIndex, wallet, blockTime, signature }
      records.push({ kind: 'undecoded', ...recordFields, programId: null, reason })
      last = record.wallet
    }
  }
  return records
}
