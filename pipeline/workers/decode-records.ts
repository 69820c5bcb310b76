import type { Decoder } from '../decode/decoder.ts'
import type { Address } from '../domain/address.ts'
import type { WalletRecord } from '../domain/slot.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { MintDecimals } from '../ingest/mint-decimals.ts'
import { persist } from '../ingest/persist.ts'
import type { Logger } from '../runtime/logger.ts'

export interface DecodeDeps {
  readonly decimals: MintDecimals
  readonly logger: Logger
  /** Ends what waits for decimals: the call then rejects with `Stopped`. */
  readonly stop: AbortSignal
}

/**
 * The records of a transaction, whether it came live or from history, in event-key order; prices are not in them yet. A promise only where decimals
 * that no transaction told have to be asked for (decisions J8).
 */
export function decodeRecords(
  decoder: Decoder,
  tx: Transaction,
  blockTime: number,
  deps: DecodeDeps,
): readonly WalletRecord[] | Promise<readonly WalletRecord[]> {
  const decoded = decoder.decode(tx, blockTime, deps.decimals.of)
  return decoded.kind === 'decoded'
    ? decoded.records
    : decodeWith(decoder, decoded.mints, tx, blockTime, deps)
}

async function decodeWith(
  decoder: Decoder,
  mints: readonly Address[],
  tx: Transaction,
  blockTime: number,
  deps: DecodeDeps,
): Promise<readonly WalletRecord[]> {
  await persist(() => deps.decimals.load(mints), deps)
  const decoded = decoder.decode(tx, blockTime, deps.decimals.of)
  return decoded.kind === 'decoded' ? decoded.records : withoutDecimals(decoder, tx, blockTime)
}

/**
 * What is left of a transaction with a mint of which nobody knows the decimals, not RPC either (it was closed): balances, and for each wallet
 * whose events cannot be told a record that says so (decisions K7).
 */
function withoutDecimals(decoder: Decoder, tx: Transaction, blockTime: number): WalletRecord[] {
  const guessed = decoder.decode(tx, blockTime, () => 0)
  const records: WalletRecord[] = []
  let last = 0
  for (const record of guessed.kind === 'decoded' ? guessed.records : []) {
    if (record.kind === 'balance' || record.kind === 'undecoded') records.push(record)
    else if (record.wallet !== last) {
      const { slot, txIndex, wallet, signature } = record
      const place = { slot, txIndex, wallet, blockTime, signature }
      records.push({ kind: 'undecoded', ...place, programId: null, reason: 'unknown_decimals' })
      last = record.wallet
    }
  }
  return records
}
