import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { entryRow, insertEntries, placeRow, readHour, readRolledTo } from './ledger-entries.ts'
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

/**
 * Moves usage from the meter's stream into the ledger (rule K5), where an account has one entry for
 * each hour of use. A range of the stream is added by writing the hour's rows again: the sum before
 * the range, which the ledger must have, and the range. Written twice, the rows are equal. A row of
 * an earlier range that arrives late has a lower version.
 */
export class RollUp {
  readonly #store: Store
  readonly #meter: Pick<Meter, 'epoch' | 'beginRollUp' | 'endRollUp'>
  readonly #now: () => number
  #hour: Hour | null = null
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
    this.#hour = null
  }

  async #add(epoch: string, range: UsageRange, rolledTo: StreamId): Promise<void> {
    const place = streamPlace(range.to)
    const key = `usage:${epoch}:${Math.floor(place.ms / HOUR_MS)}`
    const used = [...range.usage].filter(([, credits]) => credits !== 0)
    const hour = this.#hourOf(key, range)
    this.#hour = null // it holds again once the range is stored
    const unknown = used.map(([account]) => account).filter((account) => !hour.sums.has(account))
    let at = rolledTo
    if (!hour.isWhole && unknown.length > 0) {
      const found = await readHour(this.#store, { epoch, key, accounts: unknown })
      at = found.rolledTo
      for (const [account, sum] of found.sums) hour.sums.set(account, sum)
    }
    if (compareStreamIds(at, range.to) >= 0) return // stored by another process, or before a crash
    if (at !== range.from) this.#refuseBehind()
    this.#behindSince = null
    for (const [account, credits] of used)
      hour.sums.set(account, (hour.sums.get(account) ?? 0) - credits)
    const columns = { cause: 'usage', reason: '', usage_ms: hourVersion(place) }
    await insertEntries(this.#store, [
      entryRow(placeRow(epoch, range.to), this.#now()),
      ...used.map(([wallet]) => {
        const entry = { wallet, idempotency_key: key, credits: hour.sums.get(wallet) ?? 0 }
        return entryRow({ ...entry, ...columns }, place.ms)
      }),
    ])
    this.#hour = { ...hour, to: range.to }
  }

  /** What is known of the hour before a range. */
  #hourOf(key: string, { from, to }: UsageRange): Hour {
    if (this.#hour?.key === key && this.#hour.to === from) return this.#hour
    const isFirst =
      Math.floor(streamPlace(from).ms / HOUR_MS) < Math.floor(streamPlace(to).ms / HOUR_MS)
    return { key, to: from, sums: new Map(), isWhole: isFirst }
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

/** Entries of an hour. */
interface Hour {
  /** Their key. */
  readonly key: string
  /** The place in the stream up to which they go. */
  readonly to: StreamId
  /** Credits of the entries, by account. Other accounts have none if `isWhole`. */
  readonly sums: Map<Account, number>
  readonly isWhole: boolean
}

/**
 * Version of the row of an hour: it rises with the place in the stream. While the clock of Redis is
 * behind, all places have one millisecond, so the sequence gets 40 bits.
 */
function hourVersion({ ms, sequence }: ReturnType<typeof streamPlace>): bigint {
  return BigInt(ms % HOUR_MS) * 2n ** 40n + BigInt(sequence)
}
