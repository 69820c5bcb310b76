import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  insertEntries,
  type Mismatch,
  readConflicts,
  readRolledTo,
  readSnapshot,
  readTotals,
  type Total,
} from './ledger-entries.ts'
import { type Account, compareStreamIds, type Meter, type MeteredAccount } from './meter.ts'

/** One change of an account's credits. Entries with the same key are the same entry. */
export interface LedgerEntry {
  readonly account: Account
  readonly key: string
  readonly credits: number
  readonly cause: 'grant' | 'deposit' | 'adjustment'
  readonly reason: string
  /** USDT of a deposit, in raw units. */
  readonly depositAmount?: bigint
}

/**
 * The append-only ledger of credits (rules E4, K5). An account's balance is the sum of its entries,
 * less usage that the meter has not rolled up yet. Every method rejects with a retriable
 * ServiceError `unavailable` when store or meter do not answer; all of them may be repeated.
 */
export class Ledger {
  readonly #store: Store
  readonly #meter: Meter
  readonly #now: () => number
  /** When this process last loaded entries that the meter had missed (unix ms); null: never. */
  #lookedAt: number | null = null

  constructor(deps: {
    readonly store: Store
    readonly meter: Meter
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#meter = deps.meter
    this.#now = deps.now ?? Date.now
  }

  /** Appends an entry, updates the meter, and returns the credits left. */
  async add(entry: LedgerEntry): Promise<number> {
    return this.addAll(entry.account, [entry])
  }

  /** Appends entries of one account, all or none. */
  async addAll(
    account: Account,
    entries: readonly Omit<LedgerEntry, 'account'>[],
  ): Promise<number> {
    await this.append(entries.map((entry) => ({ ...entry, account })))
    return this.updateMeter(account)
  }

  /**
   * Appends entries, up to 20,000 of them all or none. The meter learns of them by `updateMeter`,
   * or within half a minute by `reloadGranted`.
   */
  async append(entries: readonly LedgerEntry[]): Promise<void> {
    await insertEntries(
      this.#store,
      entries.map(({ account, key, credits, cause, reason, depositAmount = 0n }) => {
        const entry = { wallet: account, idempotency_key: key, credits, cause, reason }
        return this.#row({ ...entry, deposit_amount: depositAmount })
      }),
    )
  }

  /** Updates the meter with an account's entries and returns the credits left. */
  async updateMeter(account: Account): Promise<number> {
    await this.load(account)
    return (await this.#meter.left(account)) ?? 0
  }

  /** Loads the ledger's snapshot of an account into the meter. */
  async load(account: Account): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const snapshot = await readSnapshot(this.#store, account, await this.#meter.epoch())
      if ((await this.#meter.load(account, snapshot)) === 'loaded') return
      // Usage was rolled up between the two reads, so the snapshot is outdated.
    }
    throw outpaced()
  }

  /** Writes a range of the meter's stream, and returns its number of uses; 0 if there was none. */
  async rollUp(): Promise<number> {
    const epoch = await this.#meter.epoch()
    const range = await this.#meter.beginRollUp(epoch, await readRolledTo(this.#store, epoch))
    if (range === null) return 0
    const [usage_ms, usage_sequence] = range.to.split('-')
    const usageFields = { cause: 'usage', reason: '', usage_ms, usage_sequence }
    const key = `usage:${epoch}:${range.from}`
    await insertEntries(this.#store, [
      this.#row({ ...usageFields, wallet: '', idempotency_key: `epoch:${epoch}`, credits: 0 }),
      ...[...range.usage]
        .filter(([, credits]) => credits !== 0)
        .map(([wallet, credits]) =>
          this.#row({ ...usageFields, wallet, idempotency_key: key, credits: -credits }),
        ),
    ])
    await this.#meter.endRollUp(epoch, range.to)
    return range.entries
  }

  /**
   * Loads accounts with entries that the meter missed, because the writer crashed or got no
   * response. Looks at accounts granted credits since the last complete run, the first time at
   * those of the last day.
   */
  async reloadGranted(): Promise<void> {
    const begun = this.#now()
    await this.#bringUp((this.#lookedAt ?? begun - FIRST_LOOK_MS) - OVERLAP_MS)
    this.#lookedAt = begun
  }

  /**
   * Loads every account of the ledger into the meter, whatever the meter has of it, and returns
   * their number. Charges go on meanwhile; credits that feed connections reserved stay reserved.
   */
  async rebuildMeter(): Promise<number> {
    const loaded = new Set<Account>()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { at, totals } = await readTotals(this.#store, await this.#meter.epoch(), null)
      const left = [...totals].filter(([account]) => !loaded.has(account))
      if (left.length === 0) return loaded.size
      for (const some of batches(left, LOADS_AT_ONCE))
        await Promise.all(
          some.map(async ([account, total]) => {
            const outcome = await this.#meter.load(account, { ...at, ...total })
            if (outcome === 'loaded') loaded.add(account)
          }),
        )
    }
    throw outpaced()
  }

  /**
   * Takes usage that the meter had rolled up into the ledger, and that the ledger has lost because
   * it was restored from a backup (rule K17). Then the meter loads every account from the ledger.
   * An empty meter, or one that is older than the backup, changes nothing. Call it while no process
   * of the API runs; it may be repeated.
   *
   * Returns the recovered usage in credits, and accounts with granted credits that the ledger has
   * lost: deposits are redeemed by their next check, other grants have to be repeated.
   */
  async recoverFromMeter() {
    const epoch = await this.#meter.epoch()
    const { rolledTo, accounts } = await this.#meter.rolledUp()
    const { at, totals } = await readTotals(this.#store, epoch, null)
    const differences = [...accounts].map(([account, { funded, used }]) => ({
      account,
      granted: funded - (totals.get(account)?.funded ?? 0),
      used: used - (totals.get(account)?.used ?? 0),
    }))
    const isBehind = compareStreamIds(rolledTo, at.rolledTo) > 0
    const lost = isBehind ? differences.filter(({ used }) => used !== 0) : []
    const [usage_ms, usage_sequence] = rolledTo.split('-')
    const fields = { cause: 'usage', reason: '', usage_ms, usage_sequence }
    const marker = { wallet: '', idempotency_key: `epoch:${epoch}`, credits: 0 }
    const key = `recovered:${epoch}:${rolledTo}`
    const rows = lost.map(({ account, used }) =>
      this.#row({ ...fields, wallet: account, idempotency_key: key, credits: -used }),
    )
    if (isBehind) await insertEntries(this.#store, [this.#row({ ...fields, ...marker }), ...rows])
    await this.#meter.forget()
    return {
      recovered_usage_credits: lost.reduce((sum, { used }) => sum + used, 0),
      lost_grants: differences
        .filter(({ granted }) => granted > 0)
        .map(({ account, granted }) => ({ wallet: account, credits: granted })),
    }
  }

  /**
   * Compares ledger and meter by account, as of one moment. Accounts unknown to the meter cannot
   * differ.
   */
  async check(): Promise<{ accounts: number; mismatches: Mismatch[] }> {
    const { metered, totals } = await this.#bringUp(null)
    const mismatches = metered.flatMap((state) => compare(state, totals.get(state.account)))
    return {
      accounts: totals.size,
      mismatches: [...mismatches, ...(await readConflicts(this.#store))],
    }
  }

  /**
   * Reads the state of accounts in meter and ledger as of one moment at which the meter knows every
   * entry; of accounts granted credits since a time (unix ms), or of all with null.
   */
  async #bringUp(since: number | null) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { at, totals } = await readTotals(this.#store, await this.#meter.epoch(), since)
      const metered = await this.#meter.inspect([...totals.keys()], at)
      if (metered === null) continue
      const behind = metered.flatMap(({ account, entries }) => {
        const total = totals.get(account)
        return total === undefined || total.entries === entries ? [] : { account, total }
      })
      if (behind.length === 0) return { metered, totals }
      // These credits were granted just now, or by a process that ended before it updated the
      // meter. A snapshot that is outdated by now is read again.
      for (const some of batches(behind, LOADS_AT_ONCE))
        await Promise.all(
          some.map(({ account, total }) => this.#meter.load(account, { ...at, ...total })),
        )
    }
    throw outpaced()
  }

  #row(entry: Record<string, unknown>) {
    const created_at = dateTime(this.#now())
    return { usage_ms: 0, usage_sequence: 0, deposit_amount: 0n, created_at, ...entry }
  }
}

/** A process that starts does not know when another one last looked. */
const FIRST_LOOK_MS = 86_400_000
/** Clocks of processes differ, and an entry may be stored long after it was sent. */
const OVERLAP_MS = 300_000
/** Maximum number of attempts to read a state that changes during the read. */
const ATTEMPTS = 50
/** Accounts loaded into the meter at the same time. */
const LOADS_AT_ONCE = 256

function outpaced(): ServiceError {
  return new ServiceError('unavailable', 'the ledger changes faster than it is read')
}

function compare(state: MeteredAccount, ledger: Total | undefined): Mismatch[] {
  const pairs = [
    ['granted', ledger?.funded ?? 0, state.funded],
    ['used', ledger?.used ?? 0, state.rolledUp],
    ['reserved', state.blocks, state.reserved],
  ] as const
  return pairs
    .filter(([, expected, actual]) => expected !== actual)
    .map(([what, expected, actual]) => ({
      wallet: state.account,
      what,
      ledger: expected,
      meter: actual,
    }))
}
