import type { Wallets } from '../../domain/wallets.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { ProtoReader } from '../wire/proto-reader.ts'
import { readTransactionUpdate } from '../wire/read-transaction-update.ts'
import { CUCKOO_PROBE, PAYMENTS } from './subscribe-request.ts'

/** Tells transactions of wallets from others (rule K24), before they cost anything else. */
export interface WalletFilter {
  /**
   * Judges the bytes of a transaction's `SubscribeUpdate`. `related`: pass it on. `filter_unknown`:
   * the server ignores the cuckoo filter. Malformed bytes are related, so that they are counted.
   */
  judge(update: Uint8Array): 'related' | 'unrelated' | 'filter_unknown'
  /** Adds to the metrics the unrelated updates that were judged since the last call. */
  flush(metrics: Pick<IngestMetrics, 'updates' | 'updateBytes' | 'dropped'>): void
}

/**
 * A filter for the wallets tracked now. Everything is related while `isNeeded` is false, as with a
 * server that compares with a list. A transaction is related if it names a wallet, changes a token
 * balance that a wallet owns, or passed the server's filter of payments. These are the conditions
 * of a list on the server (`TokenAccountExpansionControlFlag.BALANCE_CHANGED`).
 */
export function createWalletFilter(
  wallets: () => Wallets,
  isNeeded: () => boolean = () => true,
): WalletFilter {
  let tracked = wallets()
  let isProbe = false
  let isRelated = false
  let ownsBalance = false
  let unrelated = 0
  let unrelatedBytes = 0

  const visitName: Visit = (reader) => {
    const name = reader.text()
    if (name === CUCKOO_PROBE) isProbe = true
    else if (name.startsWith(PAYMENTS)) isRelated = true
  }
  const visitKey: Visit = (reader) => {
    isRelated ||= tracked.numberOfKey(reader.view()) !== undefined
  }
  const visitOwner: Visit = (reader) => {
    ownsBalance ||= tracked.numberOf(reader.text()) !== undefined
  }
  const balance = message({ 4: visitOwner })
  const meta = message({ 7: balance, 8: balance, 12: visitKey, 13: visitKey })
  const info = message({ 3: message({ 2: message({ 2: visitKey }) }), 4: meta })
  const update = fields({ 1: visitName, 4: message({ 1: info }) })

  function judge(bytes: Uint8Array) {
    if (!isNeeded()) return 'related'
    tracked = wallets()
    isProbe = false
    isRelated = false
    ownsBalance = false
    const reader = new ProtoReader(bytes)
    update(reader, bytes.length)
    if (isProbe) return 'filter_unknown'
    if (isRelated || reader.broken) return 'related'
    if (ownsBalance && changesBalance(bytes, tracked)) return 'related'
    unrelated++
    unrelatedBytes += bytes.length
    return 'unrelated'
  }

  return {
    judge,
    flush(metrics) {
      metrics.updates.inc({ kind: 'transaction' }, unrelated)
      metrics.updateBytes.inc(unrelatedBytes)
      metrics.dropped.inc({ reason: 'unrelated' }, unrelated)
      unrelated = 0
      unrelatedBytes = 0
    },
  }
}

/** Visits the current field of a message. */
type Visit = (reader: ProtoReader) => void

/** Visits fields of a message by their number. */
function fields(visits: Readonly<Record<number, Visit>>) {
  return (reader: ProtoReader, end: number) => {
    while (reader.next(end)) visits[reader.field]?.(reader)
  }
}

/** Visits fields of a nested message. */
function message(visits: Readonly<Record<number, Visit>>): Visit {
  const visitAll = fields(visits)
  return (reader) => reader.within(visitAll)
}

/** Whether an account that a wallet owns has another balance after the transaction than before. */
function changesBalance(bytes: Uint8Array, wallets: Wallets): boolean {
  const meta = readTransactionUpdate(bytes)?.transaction?.meta
  const [before, after] = [meta?.preTokenBalances ?? [], meta?.postTokenBalances ?? []]
  const amountsOf = (balances: typeof before) =>
    new Map(balances.map((one) => [one.accountIndex, one.uiTokenAmount?.amount]))
  const [amountsBefore, amountsAfter] = [amountsOf(before), amountsOf(after)]
  return [...before, ...after].some(
    ({ accountIndex: at, owner }) =>
      amountsBefore.get(at) !== amountsAfter.get(at) && wallets.numberOf(owner) !== undefined,
  )
}
