import { inserter } from '../../pipeline/store/insert-rows.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Account, type LedgerSnapshot, STREAM_START } from './meter.ts'

/** Stores entries. Entries with the same key are the same entry. */
export const insertEntries = inserter('ledger_entries')

/** Subquery: the keys of entries. */
export const ENTRY_KEYS = 'SELECT idempotency_key FROM ledger_entries'

/** Subquery: key and wallet of each deposit that was redeemed for credits. */
export const REDEEMED_FOR_CREDITS =
  "SELECT idempotency_key, wallet FROM ledger_entries FINAL WHERE cause = 'deposit'"

/** A period that usage is summed over, in UTC. */
export type UsagePeriod = 'hour' | 'day'

/** Usage of an account in one period. */
export interface Usage {
  /** Unix seconds. */
  readonly startsAt: number
  /**
   * Negative if more credits were returned than used: refunds of a call of the period before, or a
   * block that a feed connection had reserved.
   */
  readonly credits: number
}

/** Seconds of each period. Every UTC day has 86,400 in unix time. */
export const PERIOD_SECONDS = { hour: 3600, day: 86_400 } as const

/**
 * Reads the usage of an account by period, newest first: of the period of `now` (unix milliseconds)
 * and those before it, `count` in all; periods without use are left out. It comes from the ledger,
 * so the last second may be missing. An entry counts at the time of its roll-up.
 */
export async function readUsage(
  store: Store,
  account: string,
  { by, count, now }: { readonly by: UsagePeriod; readonly count: number; readonly now: number },
): Promise<Usage[]> {
  const length = PERIOD_SECONDS[by]
  const current = Math.floor(now / 1000 / length) * length
  const since = Math.max(0, current - (count - 1) * length)
  const rows = await store.query<{ starts_at: number; used: string }>(
    `SELECT toUInt32(intDiv(toUnixTimestamp(created_at), {length:UInt32}) * {length:UInt32}) AS starts_at, -sum(credits) AS used
     FROM ledger_entries FINAL
     WHERE wallet = {account:String} AND cause = 'usage' AND created_at >= fromUnixTimestamp64Milli({since:Int64})
     GROUP BY starts_at HAVING used != 0 ORDER BY starts_at DESC LIMIT {count:UInt32}`,
    { account, length, since: since * 1000, count },
  )
  return rows.map(({ starts_at, used }) => ({ startsAt: starts_at, credits: Number(used) }))
}

/** A deposit that was credited. */
export interface TopUp {
  readonly signature: string
  /** USDT in raw units. */
  readonly amount: bigint
  readonly credits: number
  /** Time of the entry, in unix seconds. */
  readonly createdAt: number
}

/** Reads the deposits credited to an account, newest first, at most 1000 (rule E6). */
export async function readTopUps(store: Store, account: string): Promise<TopUp[]> {
  const rows = await store.query<
    Record<'idempotency_key' | 'deposit_amount' | 'credits', string> & { created_at: number }
  >(
    `SELECT idempotency_key, deposit_amount, credits, toUnixTimestamp(created_at) AS created_at FROM ledger_entries FINAL
     WHERE wallet = {account:String} AND startsWith(idempotency_key, 'deposit:') AND cause = 'deposit'
     ORDER BY ledger_entries.created_at DESC, idempotency_key LIMIT 1000`,
    { account },
  )
  return rows.map((row) => ({
    signature: row.idempotency_key.split(':')[1] ?? '',
    amount: BigInt(row.deposit_amount),
    credits: Number(row.credits),
    createdAt: row.created_at,
  }))
}

/** A difference found by `ledger check`. */
export interface Mismatch {
  readonly wallet: Account
  readonly what: 'granted' | 'used' | 'reserved' | 'conflicting_entries'
  readonly ledger: number
  readonly meter: number
}

const TOTALS = `sumIf(credits, cause != 'usage') AS funded, countIf(cause != 'usage') AS entries, -sumIf(credits, cause = 'usage') AS used`
const ROLLED_TO = `maxIf((usage_ms, usage_sequence), wallet = '') AS rolled_to, rolled_to.1 AS ms, rolled_to.2 AS sequence`

/** Accounts granted credits since a time. A day has far fewer grants than the bound. */
const GRANTED_SINCE = `wallet IN (
  SELECT DISTINCT wallet FROM ledger_entries
  WHERE cause != 'usage' AND created_at > fromUnixTimestamp64Milli({since:Int64}) LIMIT 100000)`

const TOTAL_COLUMNS = ['funded', 'entries', 'used'] as const
const ROLLED_TO_COLUMNS = ['ms', 'sequence'] as const

type TotalsRow = Readonly<Record<(typeof TOTAL_COLUMNS)[number], string>>
type RolledToRow = Readonly<Record<(typeof ROLLED_TO_COLUMNS)[number], string>>

/** Sums over the entries of an account. */
export type Total = Pick<LedgerSnapshot, 'funded' | 'entries' | 'used'>

function total(row: TotalsRow | undefined): Total {
  return {
    funded: Number(row?.funded ?? 0),
    entries: Number(row?.entries ?? 0),
    used: Number(row?.used ?? 0),
  }
}

function streamIdOf(row: RolledToRow | undefined): string {
  return row === undefined ? STREAM_START : `${row.ms}-${row.sequence}`
}

/** Reads the sums of an account, and how far the meter's stream was rolled up. */
export async function readSnapshot(store: Store, account: Account, epoch: string) {
  // One query, so that sums and stream position belong to the same moment.
  const [row] = await store.query<TotalsRow & RolledToRow>(
    `SELECT ${TOTALS}, ${ROLLED_TO}
     FROM ledger_entries FINAL WHERE wallet = {account:String} OR (wallet = '' AND idempotency_key = {key:String})`,
    { account, key: `epoch:${epoch}` },
    [...TOTAL_COLUMNS, ...ROLLED_TO_COLUMNS],
  )
  return { epoch, rolledTo: streamIdOf(row), ...total(row) }
}

/** Reads how far the meter's stream was rolled up. */
export async function readRolledTo(store: Store, epoch: string): Promise<string> {
  const [row] = await store.query<RolledToRow>(
    `SELECT ${ROLLED_TO} FROM ledger_entries WHERE wallet = '' AND idempotency_key = {key:String}`,
    { key: `epoch:${epoch}` },
    ROLLED_TO_COLUMNS,
  )
  return streamIdOf(row)
}

/** Reads the sums of accounts granted credits since a time (unix ms), or of all with null. */
export async function readTotals(store: Store, epoch: string, since: number | null) {
  const rows = await store.query<TotalsRow & RolledToRow & { wallet: string }>(
    `SELECT wallet, ${TOTALS}, ${ROLLED_TO}
     FROM ledger_entries FINAL
     WHERE ${since === null ? "wallet != ''" : GRANTED_SINCE} OR (wallet = '' AND idempotency_key = {key:String})
     GROUP BY wallet`,
    { key: `epoch:${epoch}`, ...(since !== null && { since }) },
    ['wallet', ...TOTAL_COLUMNS, ...ROLLED_TO_COLUMNS],
  )
  const rolledTo = streamIdOf(rows.find(({ wallet }) => wallet === ''))
  const accounts = rows.filter(({ wallet }) => wallet !== '')
  return {
    at: { epoch, rolledTo },
    totals: new Map(accounts.map((row) => [row.wallet, total(row)])),
  }
}

/** Finds keys that were used for different amounts. */
export async function readConflicts(store: Store): Promise<Mismatch[]> {
  const rows = await store.query<{ wallet: string; low: string; high: string }>(
    `SELECT wallet, min(credits) AS low, max(credits) AS high FROM ledger_entries WHERE wallet != ''
     GROUP BY wallet, idempotency_key HAVING low != high LIMIT 1000`,
  )
  return rows.map(({ wallet, low, high }) => ({
    wallet,
    what: 'conflicting_entries',
    ledger: Number(low),
    meter: Number(high),
  }))
}

/** Reads the credits of an entry; null if there is none with this key. */
export async function readEntryCredits(store: Store, wallet: Account, key: string) {
  const [entry] = await store.query<{ credits: string }>(
    `SELECT credits FROM ledger_entries WHERE wallet = {wallet:String} AND idempotency_key = {key:String} LIMIT 1`,
    { wallet, key },
  )
  return entry === undefined ? null : Number(entry.credits)
}
