import { dateTime } from '../../pipeline/store/date-time.ts'
import { inserter } from '../../pipeline/store/insert-rows.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import {
  type Account,
  type LedgerTotal,
  STREAM_START,
  type StreamId,
  streamPlace,
} from './meter.ts'

/** Stores entries. Entries with the same key are the same entry. */
export const insertEntries = inserter('ledger_entries')

/** Stores entries as one block, however many there are: all of them are stored, or none. */
export function insertBlock(store: Store, rows: readonly Row[]): Promise<void> {
  return store.insert('ledger_entries', rows)
}

/** A row of the table, written at `nowMs` (unix milliseconds), with the columns of `entry`. */
export function entryRow(entry: Row, nowMs: number): Row {
  const created_at = dateTime(nowMs)
  return { usage_ms: 0, usage_sequence: 0, deposit_amount: 0n, created_at, ...entry }
}

/** Columns of the row that says how much of the meter's stream is in the ledger. */
export function placeRow(epoch: string, rolledTo: StreamId): Row {
  const { ms, sequence } = streamPlace(rolledTo)
  const key = { wallet: '', idempotency_key: `epoch:${epoch}` }
  return { ...key, credits: 0, cause: 'usage', reason: '', usage_ms: ms, usage_sequence: sequence }
}

/** The wallet of the rows that have an account's running sums (`sql/0201_ledger_sums.sql`). */
export function sumsOf(account: Account): string {
  return `!${account}`
}

/** Comes after every wallet of running sums, and before every account. */
const AFTER_SUMS = '!~'

/** An entry that is no usage of an hour, and its copy among the running sums. */
export function withCopy(entry: Row): Row[] {
  return [entry, { ...entry, wallet: sumsOf(String(entry.wallet)) }]
}

/** Subquery: the keys of entries. */
export const ENTRY_KEYS = 'SELECT idempotency_key FROM ledger_entries'

/** Subquery: key and wallet of each deposit that was redeemed for credits. */
export const REDEEMED_FOR_CREDITS =
  "SELECT idempotency_key, wallet FROM ledger_entries FINAL WHERE cause = 'deposit' AND NOT startsWith(wallet, '!')"

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
 * so the last second may be missing. An entry counts at the last use in it.
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
  readonly what: 'granted' | 'used' | 'reserved' | 'running_sum' | 'conflicting_entries'
  readonly ledger: number
  readonly meter: number
}

const TOTALS = `sumIf(credits, cause != 'usage') AS funded, countIf(cause != 'usage') AS entries, -sumIf(credits, cause = 'usage') AS used`
const ROLLED_TO = `maxIf((usage_ms, usage_sequence), wallet = '') AS rolled_to, rolled_to.1 AS ms, rolled_to.2 AS sequence`

const TOTAL_COLUMNS = ['funded', 'entries', 'used'] as const
/** Columns of a `RolledToRow`. */
export const ROLLED_TO_COLUMNS = ['ms', 'sequence'] as const

type TotalsRow = Readonly<Record<(typeof TOTAL_COLUMNS)[number], string>>
/** A row that says how far the meter's stream was rolled up. */
export type RolledToRow = Readonly<Record<(typeof ROLLED_TO_COLUMNS)[number], string>>

function total({ funded, entries, used }: TotalsRow): LedgerTotal {
  return { funded: Number(funded), entries: Number(entries), used: Number(used) }
}

/** The position in the stream that a row has; the start without a row. */
export function streamIdOf(row: RolledToRow | undefined): string {
  return row === undefined ? STREAM_START : `${row.ms}-${row.sequence}`
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

/** Accounts of the ledger: some, those granted credits since a time (unix ms), or a range. */
export type AccountSet =
  | { readonly accounts: readonly Account[] }
  | { readonly since: number }
  | AccountRange

/** Accounts after one up to another. */
export interface AccountRange {
  readonly after: Account
  readonly to: Account
}

/** Every account: none is named like the end of the range. */
export const ALL: AccountRange = { after: AFTER_SUMS, to: '~' }

/** Yields ranges that together are all accounts of the ledger, of `most` at most. */
export async function* accountRanges(store: Store, most = 10_000): AsyncGenerator<AccountRange> {
  for (let { after } = ALL; ; ) {
    const [row] = await store.query<{ to: string }>(
      `SELECT max(wallet) AS to FROM (
         SELECT DISTINCT wallet FROM ledger_entries WHERE wallet > {after:String} ORDER BY wallet LIMIT {most:UInt32})`,
      { after, most },
    )
    const to = row?.to ?? ''
    if (to === '') return
    yield { after, to }
    after = to
  }
}

/**
 * Reads the totals of some accounts, and how far the meter's stream was rolled up then: from their
 * running sums, or by adding up every entry.
 */
export async function readTotals(
  store: Store,
  epoch: string,
  accounts: AccountSet,
  from: 'sums' | 'entries',
) {
  const prefix = from === 'sums' ? '!' : ''
  // One query, so that totals and stream position belong to the same moment.
  const rows = await store.query<TotalsRow & RolledToRow & { wallet: string }>(
    `SELECT wallet, ${TOTALS}, ${ROLLED_TO}
     FROM ledger_entries FINAL
     WHERE (${conditionOf(accounts, from)}) OR (wallet = '' AND idempotency_key = {key:String})
     GROUP BY wallet`,
    { key: `epoch:${epoch}`, ...withPrefix(accounts, prefix) },
    ['wallet', ...TOTAL_COLUMNS, ...ROLLED_TO_COLUMNS],
  )
  const rolledTo = streamIdOf(rows.find(({ wallet }) => wallet === ''))
  const known = rows.filter(({ wallet }) => wallet !== '')
  return {
    at: { epoch, rolledTo },
    totals: new Map(known.map((row) => [row.wallet.slice(prefix.length), total(row)])),
  }
}

/** The primary key finds the rows of names, not of an expression with them. */
function withPrefix(set: AccountSet, prefix: string): AccountSet {
  if ('accounts' in set) return { accounts: set.accounts.map((account) => prefix + account) }
  return 'since' in set ? set : { after: prefix + set.after, to: prefix + set.to }
}

function conditionOf(accounts: AccountSet, from: 'sums' | 'entries'): string {
  if ('accounts' in accounts) return 'wallet IN {accounts:Array(String)}'
  if ('after' in accounts) return 'wallet > {after:String} AND wallet <= {to:String}'
  // A day has far fewer grants than the bound.
  return `wallet IN (
    SELECT DISTINCT wallet FROM ledger_entries
    WHERE wallet ${from === 'sums' ? "> '' AND wallet <=" : '>'} '${AFTER_SUMS}'
      AND cause != 'usage' AND created_at > fromUnixTimestamp64Milli({since:Int64}) LIMIT 100000)`
}

/** Finds keys that were used for different amounts. Usage of an hour grows under one key. */
export async function readConflicts(store: Store): Promise<Mismatch[]> {
  const rows = await store.query<{ wallet: string; low: string; high: string }>(
    `SELECT wallet, min(credits) AS low, max(credits) AS high FROM ledger_entries
     WHERE cause != 'usage' AND wallet > '${AFTER_SUMS}'
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
