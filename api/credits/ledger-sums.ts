import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import {
  accountRanges,
  entryRow,
  insertEntries,
  type Mismatch,
  ROLLED_TO_COLUMNS,
  type RolledToRow,
  streamIdOf,
  sumsOf,
} from './ledger-entries.ts'
import { type Account, STREAM_START, type StreamId, streamPlace } from './meter.ts'

/** What an account used in one epoch of the meter, in negative credits. */
export interface UsageSum {
  readonly credits: number
  /** The hour of the last use, in hours since 1970, and the part of it. */
  readonly hour: number
  readonly hourCredits: number
}

/** The sum of an account without use. */
export const NO_USAGE: UsageSum = { credits: 0, hour: 0, hourCredits: 0 }

/** The row of a sum that goes up to a place in the stream. */
export function usageSumRow(
  epoch: string,
  account: Account,
  { credits, hourCredits }: UsageSum,
  to: StreamId,
): Row {
  const { ms, sequence } = streamPlace(to)
  const entry = {
    wallet: sumsOf(account),
    idempotency_key: `usage:${epoch}`,
    credits,
    hour_credits: hourCredits,
    cause: 'usage',
    reason: '',
    // While the clock of Redis is behind, all places have one millisecond.
    usage_ms: BigInt(ms) * SEQUENCES + BigInt(Math.min(sequence, Number(SEQUENCES) - 1)),
  }
  return entryRow(entry, ms)
}

/** How many versions a millisecond has. */
const SEQUENCES = 2n ** 22n

/**
 * Reads the sums of accounts, without those that have no usage in this epoch, and how far the
 * meter's stream was rolled up then. Rejects with a retriable `unavailable` when it was rolled up
 * further during the read.
 */
export async function readUsageSums(
  store: Store,
  epoch: string,
  accounts: readonly Account[],
): Promise<{ rolledTo: StreamId; sums: Map<Account, UsageSum> }> {
  const sums = new Map<Account, UsageSum>()
  let rolledTo: string | null = null
  for (const some of batches(accounts, ACCOUNTS_PER_QUERY)) {
    // One query, so that sums and stream position belong to the same moment.
    const rows = await store.query<
      RolledToRow & Record<'wallet' | 'credits' | 'hour_credits' | 'hour', string>
    >(
      `SELECT wallet, credits, hour_credits, intDiv(toUnixTimestamp64Milli(created_at), 3600000) AS hour, usage_ms AS ms, usage_sequence AS sequence
       FROM ledger_entries FINAL
       WHERE (wallet IN {sums:Array(String)} AND idempotency_key = {key:String})
         OR (wallet = '' AND idempotency_key = {mark:String})`,
      { sums: some.map(sumsOf), key: `usage:${epoch}`, mark: `epoch:${epoch}` },
      ['wallet', 'credits', 'hour_credits', 'hour', ...ROLLED_TO_COLUMNS],
    )
    const mark = rows.find(({ wallet }) => wallet === '')
    const at = mark === undefined ? STREAM_START : streamIdOf(mark)
    rolledTo ??= at
    if (at !== rolledTo) throw new ServiceError('unavailable', 'the ledger changed during a read')
    for (const { wallet, credits, hour, hour_credits } of rows)
      if (wallet !== '')
        sums.set(wallet.slice(1), {
          credits: Number(credits),
          hour: Number(hour),
          hourCredits: Number(hour_credits),
        })
  }
  return { rolledTo: rolledTo ?? STREAM_START, sums }
}

/** Bounds the parameters of a query. */
const ACCOUNTS_PER_QUERY = 1000

/** Whether every entry is in a sum. False for entries from before there were sums. */
export async function hasSums(store: Store): Promise<boolean> {
  const rows = await store.query(
    `SELECT 1 AS one FROM ledger_entries WHERE wallet = '' AND idempotency_key = 'sums' LIMIT 1`,
  )
  return rows.length > 0
}

/** Makes the sums of entries from before there were sums. Several processes may do it at once. */
export async function makeSums(store: Store): Promise<void> {
  for await (const range of accountRanges(store, ACCOUNTS_PER_QUERY)) {
    await store.command(
      `INSERT INTO ledger_entries (${COLUMNS})
       SELECT concat('!', wallet), idempotency_key, credits, 0, cause, reason, deposit_amount, usage_ms, usage_sequence, created_at
       FROM ledger_entries FINAL
       WHERE wallet > {after:String} AND wallet <= {to:String} AND NOT startsWith(idempotency_key, 'usage:')`,
      { ...range },
    )
    await store.command(
      `INSERT INTO ledger_entries (${COLUMNS})
       SELECT concat('!', wallet), concat('usage:', splitByChar(':', idempotency_key)[2]) AS sum_key, sum(credits),
         argMax(if(idempotency_key = concat(sum_key, ':', toString(intDiv(toUnixTimestamp64Milli(created_at), 3600000))), credits, 0), created_at),
         'usage', '', 0, toUInt64(toUnixTimestamp64Milli(max(created_at))) * ${SEQUENCES}, 0, max(created_at)
       FROM ledger_entries FINAL
       WHERE wallet > {after:String} AND wallet <= {to:String} AND startsWith(idempotency_key, 'usage:')
       GROUP BY wallet, sum_key`,
      { ...range },
    )
  }
  const mark = { wallet: '', idempotency_key: 'sums', credits: 0, cause: 'usage', reason: '' }
  await insertEntries(store, [entryRow(mark, 0)])
}

const COLUMNS =
  'wallet, idempotency_key, credits, hour_credits, cause, reason, deposit_amount, usage_ms, usage_sequence, created_at'

/**
 * Finds accounts of a range whose entries and running sums differ, at most 1000. `meter` is then
 * the running sum.
 */
export async function readWrongSums(
  store: Store,
  range: { readonly after: Account; readonly to: Account },
): Promise<Mismatch[]> {
  const rows = await store.query<Record<'account' | 'entries' | 'summed', string>>(
    `SELECT if(startsWith(wallet, '!'), substring(wallet, 2), wallet) AS account,
       sumIf(credits, NOT startsWith(wallet, '!')) AS entries, sumIf(credits, startsWith(wallet, '!')) AS summed
     FROM ledger_entries FINAL
     WHERE (wallet > {after:String} AND wallet <= {to:String})
       OR (wallet > concat('!', {after:String}) AND wallet <= concat('!', {to:String}))
     GROUP BY account HAVING entries != summed LIMIT 1000`,
    { ...range },
  )
  return rows.map(({ account, entries, summed }) => ({
    wallet: account,
    what: 'running_sum',
    ledger: Number(entries),
    meter: Number(summed),
  }))
}
