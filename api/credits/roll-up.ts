import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { entryRow, insertBlock, placeRow, readRolledTo } from './ledger-entries.ts'
import {
  hasSums,
  makeSums,
  NO_USAGE,
  readUsageSums,
  type UsageSum,
  usageSumRow,
} from './ledger-sums.ts'
import {
  type Account,
  compareStreamIds,
  type Meter,
  type StreamId,
  streamPlace,
  type UsageRange,
} from './meter.ts'

const HOUR_MS = 3_600_000
/** How long a replica may lag. What the ledger lacks after that is lost. */
const BEHIND_MS = 60_000
/** Above this number of accounts, the sums that are known are read again. */
const MOST_KNOWN = 500_000

/**
 * Moves usage from the meter's stream into the ledger (rule K5), where an account has one entry for
 * each hour of use, and a running sum. A range of the stream is added by writing both again: what
 * they had before the range, which the ledger must have, and the range. Written twice, the rows are
 * equal. A row of an earlier range that arrives late has a lower version.
 */
export class RollUp {
  readonly #store: Store
  readonly #meter: Pick<Meter, 'epoch' | 'beginRollUp' | 'endRollUp'>
  readonly #now: () => number
  /** Sums of accounts up to a place in the stream; null: not known. */
  #known: { readonly to: StreamId; readonly sums: Map<Account, UsageSum> } | null = null
  #hasSums = false
  /** Since when the ledger lacks usage that was rolled up (unix ms); null: it has all of it. */
  #behindSince: number | null = null

  constructor(deps: {
    readonly store: Store
    readonly meter: Pick<Meter, 'epoch' | 'beginRollUp' | 'endRollUp'>
    readonly now: () => number
  }) {
    this.#store = deps.store
    this.#meter = deps.meter
    this.#now = deps.now
  }

  /** Adds a range to the ledger. Returns its number of uses; 0 if there was none. */
  async run(): Promise<number> {
    if (!this.#hasSums && !(await hasSums(this.#store))) await makeSums(this.#store)
    this.#hasSums = true
    const epoch = await this.#meter.epoch()
    let rolledTo = await readRolledTo(this.#store, epoch)
    const range = await this.#meter.beginRollUp(epoch, rolledTo)
    if (range === null) return 0
    // Another process may have rolled up between the two.
    if (rolledTo !== range.from) rolledTo = await readRolledTo(this.#store, epoch)
    await this.#add(epoch, range, rolledTo)
    await this.#meter.endRollUp(epoch, range.to)
    return range.entries
  }

  /** Forgets what it knows of the ledger: call it once entries were changed or lost. */
  forget(): void {
    this.#known = null
  }

  async #add(epoch: string, range: UsageRange, rolledTo: StreamId): Promise<void> {
    const place = streamPlace(range.to)
    const hour = Math.floor(place.ms / HOUR_MS)
    const used = [...range.usage].filter(([, credits]) => credits !== 0)
    const sums = this.#sumsAt(range.from)
    this.#known = null // they hold again once the range is stored
    const unknown = used.map(([account]) => account).filter((account) => !sums.has(account))
    let at = rolledTo
    if (unknown.length > 0) {
      const found = await readUsageSums(this.#store, epoch, unknown)
      at = found.rolledTo
      for (const account of unknown) sums.set(account, found.sums.get(account) ?? NO_USAGE)
    }
    if (compareStreamIds(at, range.to) >= 0) return // stored by another process, or before a crash
    if (at !== range.from) this.#refuseBehind()
    this.#behindSince = null
    const columns = { cause: 'usage', reason: '', usage_ms: hourVersion(place) }
    const rows = used.flatMap(([wallet, credits]) => {
      const before = sums.get(wallet) ?? NO_USAGE
      const hourCredits = (before.hour === hour ? before.hourCredits : 0) - credits
      const sum = { credits: before.credits - credits, hour, hourCredits }
      sums.set(wallet, sum)
      const entry = { wallet, idempotency_key: `usage:${epoch}:${hour}`, credits: hourCredits }
      return [
        entryRow({ ...entry, ...columns }, place.ms),
        usageSumRow(epoch, wallet, sum, range.to),
      ]
    })
    const mark = entryRow(placeRow(epoch, range.to), this.#now())
    await insertBlock(this.#store, [mark, ...rows])
    this.#known = { to: range.to, sums }
  }

  /** The sums that are known at a place in the stream. */
  #sumsAt(from: StreamId): Map<Account, UsageSum> {
    if (this.#known?.to === from && this.#known.sums.size < MOST_KNOWN) return this.#known.sums
    return new Map()
  }

  /**
   * Rejects with `unavailable`, because the server that answered lacks usage that is in the ledger:
   * a replica lags. If that lasts, the usage is lost, as in a power cut: then it returns, and the
   * loss is in the customer's favour.
   */
  #refuseBehind(): void {
    this.#behindSince ??= this.#now()
    if (this.#now() - this.#behindSince < BEHIND_MS)
      throw new ServiceError('unavailable', 'the ledger lacks usage that was rolled up into it')
  }
}

/**
 * Version of the row of an hour: it rises with the place in the stream. While the clock of Redis is
 * behind, all places have one millisecond, so the sequence gets 40 bits.
 */
function hourVersion({ ms, sequence }: ReturnType<typeof streamPlace>): bigint {
  return BigInt(ms % HOUR_MS) * 2n ** 40n + BigInt(sequence)
}
