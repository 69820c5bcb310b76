import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batchCalls } from '../../pipeline/runtime/batch-calls.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  type AccountSet,
  ALL,
  accountRanges,
  entryRow,
  insertEntries,
  type Mismatch,
  placeRow,
  readConflicts,
  readTotals,
  withCopy,
} from './ledger-entries.ts'
import { hasSums, readWrongSums } from './ledger-sums.ts'
import {
  type Account,
  compareStreamIds,
  type LedgerTotal,
  type Meter,
  type MeteredAccount,
} from './meter.ts'
import { RollUp } from './roll-up.ts'

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
  readonly #rollUp: RollUp
  readonly #loadSoon = batchCalls<Account, unknown>((accounts) => this.#loadAll(accounts), {
    most: LOADED_AT_ONCE,
    atOnce: 2,
  })
  #hasSums = false
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
    this.#rollUp = new RollUp({ ...deps, now: this.#now })
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
   * Appends entries, up to 10,000 of them all or none. The meter learns of them by `updateMeter`,
   * or within half a minute by `reloadGranted`.
   */
  async append(entries: readonly LedgerEntry[]): Promise<void> {
    await insertEntries(
      this.#store,
      entries.flatMap(({ account, key, credits, cause, reason, depositAmount = 0n }) => {
        const entry = { wallet: account, idempotency_key: key, credits, cause, reason }
        return withCopy(this.#row({ ...entry, deposit_amount: depositAmount }))
      }),
    )
  }

  /** Updates the meter with an account's entries and returns the credits left. */
  async updateMeter(account: Account): Promise<number> {
    await this.load(account)
    return (await this.#meter.balance(account))?.left ?? 0
  }

  /**
   * Loads the ledger's state of an account into the meter. It reads the account's running sums: a
   * row for each epoch of the meter in which it was used, and one for each payment, grant and
   * adjustment. Accounts that are loaded at the same time share a query and a call of the meter.
   */
  async load(account: Account): Promise<void> {
    await this.#loadSoon(account)
  }

  async #loadAll(accounts: readonly Account[]): Promise<typeof NOTHING> {
    const from = await this.#source()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const epoch = await this.#meter.epoch()
      const { at, totals } = await readTotals(this.#store, epoch, { accounts }, from)
      const all = new Map(accounts.map((account) => [account, totals.get(account) ?? NO_ENTRIES]))
      if ((await this.#meter.load(at, all)) === 'loaded') return NOTHING
      // Usage was rolled up between the two reads, so the totals are outdated.
    }
    throw outpaced()
  }

  /** Where totals are read: not from running sums before they were made. */
  async #source(): Promise<'sums' | 'entries'> {
    this.#hasSums ||= await hasSums(this.#store)
    return this.#hasSums ? 'sums' : 'entries'
  }

  /** Writes a range of the meter's stream, and returns its number of uses; 0 if there was none. */
  rollUp(): Promise<number> {
    return this.#rollUp.run()
  }

  /**
   * Loads accounts with entries that the meter missed, because the writer crashed or got no
   * response. Looks at accounts granted credits since the last complete run, the first time at
   * those of the last day.
   */
  async reloadGranted(): Promise<void> {
    const begun = this.#now()
    const since = (this.#lookedAt ?? begun - FIRST_LOOK_MS) - OVERLAP_MS
    await this.#bringUp({ since }, await this.#source())
    this.#lookedAt = begun
  }

  /**
   * Loads every account of the ledger into the meter, whatever the meter has of it, and returns
   * their number. Charges go on meanwhile; credits that feed connections reserved stay reserved.
   */
  async rebuildMeter(): Promise<number> {
    let loaded = 0
    for await (const accounts of accountRanges(this.#store)) loaded += await this.#reload(accounts)
    return loaded
  }

  async #reload(accounts: AccountSet): Promise<number> {
    const from = await this.#source()
    const loaded = new Set<Account>()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { at, totals } = await readTotals(
        this.#store,
        await this.#meter.epoch(),
        accounts,
        from,
      )
      const left = [...totals].filter(([account]) => !loaded.has(account))
      if (left.length === 0) return loaded.size
      for (const some of batches(left, LOADED_AT_ONCE)) {
        if ((await this.#meter.load(at, new Map(some))) === 'stale') break
        for (const [account] of some) loaded.add(account)
      }
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
    const { at, totals } = await readTotals(this.#store, epoch, ALL, 'entries')
    const differences = [...accounts].map(([account, { funded, used }]) => ({
      account,
      granted: funded - (totals.get(account)?.funded ?? 0),
      used: used - (totals.get(account)?.used ?? 0),
    }))
    const isBehind = compareStreamIds(rolledTo, at.rolledTo) > 0
    const lost = isBehind ? differences.filter(({ used }) => used !== 0) : []
    const fields = { cause: 'usage', reason: '', idempotency_key: `recovered:${epoch}:${rolledTo}` }
    const rows = lost.flatMap(({ account, used }) =>
      withCopy(this.#row({ ...fields, wallet: account, credits: -used })),
    )
    if (isBehind) await insertEntries(this.#store, [this.#row(placeRow(epoch, rolledTo)), ...rows])
    this.#rollUp.forget()
    await this.#meter.forget()
    return {
      recovered_usage_credits: lost.reduce((sum, { used }) => sum + used, 0),
      lost_grants: differences
        .filter(({ granted }) => granted > 0)
        .map(({ account, granted }) => ({ wallet: account, credits: granted })),
    }
  }

  /**
   * Compares ledger and meter by account, each range of accounts as of one moment. Accounts unknown
   * to the meter cannot differ.
   */
  async check(): Promise<{ accounts: number; mismatches: Mismatch[] }> {
    const mismatches: Mismatch[] = []
    let accounts = 0
    for await (const range of accountRanges(this.#store)) {
      const { metered, totals } = await this.#bringUp(range, 'entries')
      accounts += totals.size
      if ((await this.#source()) === 'sums')
        mismatches.push(...(await readWrongSums(this.#store, range)))
      for (const state of metered) mismatches.push(...compare(state, totals.get(state.account)))
    }
    return { accounts, mismatches: [...mismatches, ...(await readConflicts(this.#store))] }
  }

  /**
   * Reads the state of accounts in meter and ledger as of one moment at which the meter knows every
   * entry.
   */
  async #bringUp(accounts: AccountSet, from: 'sums' | 'entries') {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { at, totals } = await readTotals(
        this.#store,
        await this.#meter.epoch(),
        accounts,
        from,
      )
      const metered = await this.#meter.inspect([...totals.keys()], at)
      if (metered === null) continue
      const behind = metered.flatMap(({ account, entries }) => {
        const total = totals.get(account)
        return total === undefined || total.entries === entries ? [] : [[account, total] as const]
      })
      if (behind.length === 0) return { metered, totals }
      // These credits were granted just now, or by a process that ended before it updated the
      // meter. Totals that are outdated by now are read again.
      for (const some of batches(behind, LOADED_AT_ONCE)) await this.#meter.load(at, new Map(some))
    }
    throw outpaced()
  }

  #row(entry: Record<string, unknown>) {
    return entryRow(entry, this.#now())
  }
}

/** A process that starts does not know when another one last looked. */
const FIRST_LOOK_MS = 86_400_000
/** Clocks of processes differ, and an entry may be stored long after it was sent. */
const OVERLAP_MS = 300_000
/** Maximum number of attempts to read a state that changes during the read. */
const ATTEMPTS = 50
/** Accounts loaded into the meter by one call, which blocks Redis for some milliseconds. */
const LOADED_AT_ONCE = 500
const NOTHING: ReadonlyMap<Account, unknown> = new Map()
const NO_ENTRIES: LedgerTotal = { funded: 0, entries: 0, used: 0 }

function outpaced(): ServiceError {
  return new ServiceError('unavailable', 'the ledger changes faster than it is read')
}

function compare(state: MeteredAccount, ledger: LedgerTotal | undefined): Mismatch[] {
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
