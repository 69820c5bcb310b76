import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import { inserter } from '../../pipeline/store/insert-rows.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import {
  type Account,
  type LedgerSnapshot,
  STREAM_START,
  type StreamId,
  streamPlace,
} from './meter.ts'

/** Stores entries. Entries with the same key are the same entry. */
export const insertEntries = inserter('ledger_entries')

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

/**
 * Reads what accounts used in an hour (negative credits, by account), and how far the meter's
 * stream was rolled up then. `key`: the key of the hour's entries. Rejects with a retriable
 * `unavailable` when it was rolled up further during the read.
 */
export async function readHour(
  store: Store,
  hour: { readonly epoch: string; readonly key: string; readonly accounts: readonly Account[] },
): Promise<{ rolledTo: string; sums: Map<Account, number> }> {
  const { epoch, key, accounts } = hour
  const sums = new Map<Account, number>()
  let rolledTo: string | null = null
  const pages = accounts.length === 0 ? [[]] : batches(accounts, ACCOUNTS_PER_QUERY)
  for (const some of pages) {
    // One query, so that sums and stream position belong to the same moment.
    const rows = await store.query<RolledToRow & { wallet: string; sum: string }>(
      `SELECT wallet, sum(credits) AS sum, ${ROLLED_TO} FROM ledger_entries FINAL
       WHERE (wallet IN {accounts:Array(String)} AND idempotency_key = {key:String})
         OR (wallet = '' AND idempotency_key = {mark:String})
       GROUP BY wallet`,
      { accounts: some, key, mark: `epoch:${epoch}` },
      ['wallet', 'sum', ...ROLLED_TO_COLUMNS],
    )
    for (const { wallet, sum } of rows) if (wallet !== '') sums.set(wallet, Number(sum))
    const at = streamIdOf(rows.find(({ wallet }) => wallet === ''))
    rolledTo ??= at
    if (at !== rolledTo) throw new ServiceError('unavailable', 'the ledger changed during a read')
  }
  return { rolledTo: rolledTo ?? STREAM_START, sums }
}

/** Bounds the parameters of a query. */
const ACCOUNTS_PER_QUERY = 1000

/** Reads how far the meter's stream was rolled up. */
export async function readRolledTo(store: Store, epoch: string): Promise<string> {
  const [row] = await store.query<RolledToRow>(
    `SELECT ${ROLLED_TO} FROM ledger_entries WHERE wallet = '' AND idempotency_key = {key:String}`,
    { key: `epoch:${epoch}` },
    ROLLED_TO_COLUMNS,
  )
  return streamIdOf(row)
}

/** Accounts of the ledger: those granted credits since a time (unix ms), or a range of all. */
export type AccountSet =
  | { readonly since: number }
  | { readonly after: Account; readonly to: Account }

/** Yields ranges that together are all accounts of the ledger, of 10,000 at most. */
export async function* accountRanges(store: Store): AsyncGenerator<AccountSet> {
  for (let after = ''; ; ) {
    const [row] = await store.query<{ to: string }>(
      `SELECT max(wallet) AS to FROM (
         SELECT DISTINCT wallet FROM ledger_entries WHERE wallet > {after:String} ORDER BY wallet LIMIT 10000)`,
      { after },
    )
    const to = row?.to ?? ''
    if (to === '') return
    yield { after, to }
    after = to
  }
}

/** Reads the sums of some accounts, and how far the meter's stream was rolled up. */
export async function readTotals(store: Store, epoch: string, accounts: AccountSet) {
  const condition =
    'since' in accounts ? GRANTED_SINCE : 'wallet > {after:String} AND wallet <= {to:String}'
  const rows = await store.query<TotalsRow & RolledToRow & { wallet: string }>(
    `SELECT wallet, ${TOTALS}, ${ROLLED_TO}
     FROM ledger_entries FINAL
     WHERE (${condition}) OR (wallet = '' AND idempotency_key = {key:String})
     GROUP BY wallet`,
    { key: `epoch:${epoch}`, ...accounts },
    ['wallet', ...TOTAL_COLUMNS, ...ROLLED_TO_COLUMNS],
  )
  const rolledTo = streamIdOf(rows.find(({ wallet }) => wallet === ''))
  const known = rows.filter(({ wallet }) => wallet !== '')
  return {
    at: { epoch, rolledTo },
    totals: new Map(known.map((row) => [row.wallet, total(row)])),
  }
}

/** Finds keys that were used for different amounts. Usage of an hour grows under one key. */
export async function readConflicts(store: Store): Promise<Mismatch[]> {
  const rows = await store.query<{ wallet: string; low: string; high: string }>(
    `SELECT wallet, min(credits) AS low, max(credits) AS high FROM ledger_entries WHERE cause != 'usage'
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
