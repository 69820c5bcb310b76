import type { Malformed, Transaction } from '../domain/transaction.ts'
import type { IngestOutput } from './output.ts'
import { readSolPrice } from './pools/whirlpool-account.ts'
import type { SolPrices } from './sol-price.ts'
import type { LateTransaction, SealedSlot, SealerOutput } from './stream/sealer-events.ts'
import type { IngestMetrics } from './telemetry.ts'
import { normalize, type RawTransaction, sizeOf } from './wire/raw-transaction.ts'

/** An output of the sealer whose transactions and price account are still encoded. */
export type RawOutput =
  | Exclude<SealerOutput<RawTransaction, Uint8Array>, { kind: 'fetch' | 'sealed' }>
  | RawSlot

/** A sealed slot, and the newest slot that was final when it was sealed. */
type RawSlot = SealedSlot<RawTransaction, Uint8Array> & { readonly finalized: number | null }

/** Bytes of memory that an output occupies. */
export function bytesOfOutput(output: RawOutput): number {
  if (output.kind === 'late') return sizeOf(output.transaction)
  if (output.kind === 'gap' || output.kind === 'withdrawn') return 0
  return output.transactions.reduce((sum, raw) => sum + sizeOf(raw), 0)
}

/**
 * Returns a function that decodes an output's transactions and adds the SOL price of its slot to
 * `prices` (rule J7): from the pool account, or the one remembered of the block. The function
 * returns null for a late transaction that is malformed.
 */
export function createOutputReader(
  prices: SolPrices,
  metrics: IngestMetrics,
): (output: RawOutput) => IngestOutput | null {
  function readLate(late: LateTransaction<RawTransaction>): IngestOutput | null {
    const { slot, blockTime, blockId, origin } = late
    const transaction = normalize(late.transaction)
    metrics.transactions.inc({ when: 'late' })
    if (transaction.kind === 'transaction') {
      return { kind: 'late', slot, blockTime, blockId, origin, transaction }
    }
    metrics.malformed.inc({ reason: transaction.reason })
    return null
  }

  function readSlot(sealed: RawSlot): IngestOutput {
    const { slot, parent, blockTime, blockId, finalized, account } = sealed
    metrics.transactions.inc({ when: 'in_time' }, sealed.transactions.length)
    const { transactions, malformed } = readTransactions(sealed.transactions)
    for (const { reason } of malformed) metrics.malformed.inc({ reason })
    const read = account === null ? null : readSolPrice(account)
    if (account !== null && read === null) metrics.malformed.inc({ reason: 'not_a_price_pool' })
    const usdE9 = read ?? prices.rememberedPriceOf(sealed)
    if (usdE9 !== null) prices.add({ time: blockTime, usdE9 }, slot)
    const solPrice = prices.newestOfPool(blockTime)
    const slotFields = { slot, parent, blockTime, blockId, finalized }
    return { kind: 'slot', ...slotFields, transactions, malformed, solPrice }
  }

  return (output) => {
    if (output.kind === 'gap') return output
    if (output.kind === 'withdrawn') return { ...output, solPrice: prices.withdraw(output.slot) }
    return output.kind === 'late' ? readLate(output) : readSlot(output)
  }
}

/**
 * Decodes transactions that are sorted by index. If a transaction has several copies, returns the
 * first well-formed one; every malformed copy is returned in `malformed`.
 */
export function readTransactions(raws: readonly RawTransaction[]): {
  transactions: Transaction[]
  malformed: Malformed[]
} {
  const transactions: Transaction[] = []
  const malformed: Malformed[] = []
  let last: Transaction | null = null
  for (const raw of raws) {
    const read = normalize(raw)
    if (read.kind === 'malformed') {
      malformed.push(read)
      continue
    }
    const isCopy =
      last !== null &&
      last.index === read.index &&
      Buffer.compare(last.signature, read.signature) === 0
    if (!isCopy) transactions.push(read)
    last = read
  }
  return { transactions, malformed }
}
