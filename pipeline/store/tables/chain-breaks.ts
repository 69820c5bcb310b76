import { insertRows } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'
import { type ChainKey, comparePlaces, type LinkPlace, type Seam } from './links.ts'
import { tradersOf } from './swaps.ts'

/** State of a break (rule K8). */
export type BreakState = 'open' | 'unexplained' | 'accepted' | 'closed'

/** A break in the chain of an account: a row of table `chain_breaks`. */
export interface ChainBreak extends Seam {
  readonly state: BreakState
  /** Why it is accepted or unexplained; else ''. */
  readonly cause: string
  /** How often RPC was asked without closing it. */
  readonly tries: number
  /** Unix seconds of the wall clock. */
  readonly openedAt: number
  readonly changedAt: number
}

/** `cause` of a break that is not repaired: the wallet never traded its mint (rule K6). */
export const NOT_TRADED = 'not_traded'

/** How a repair that found nothing left a break. */
export type RepairEnd = Pick<ChainBreak, 'state' | 'cause' | 'tries' | 'changedAt'>

/** Returns the key of a break as text. */
export function breakText({ wallet, account, slot, txIndex }: ChainKey & LinkPlace): string {
  return `${wallet}/${account}/${slot}/${txIndex}`
}

/** Whether two seams, of the same link, say the same. */
export function isSameSeam(a: Seam, b: Seam): boolean {
  return comparePlaces(a.from, b.from) === 0 && a.expected === b.expected && a.found === b.found
}

/**
 * Returns a function that stores breaks. Versions come from the clock; the newest counts.
 */
export function breakWriter(store: Store): (breaks: readonly ChainBreak[]) => Promise<void> {
  let version = 0
  return async (breaks) => {
    version = Math.max(version + 1, Date.now())
    await insertRows(
      store,
      'chain_breaks',
      breaks.map((found) => breakRow(found, version)),
    )
  }
}

/** Columns of a new version of a stored break. */
const CHANGED_NOW = `{changedAt:UInt32} AS changed_at, now64(3) AS inserted_at,
  greatest(version + 1, toUInt64(toUnixTimestamp64Milli(now64(3)))) AS version`

/**
 * Stores how a repair of an open break ended. Does nothing if the break has changed since it was
 * read: the check may have closed it meanwhile.
 */
export function storeRepair(store: Store, read: ChainBreak, ended: RepairEnd): Promise<void> {
  const { wallet, account, slot, txIndex, from } = read
  return store.command(
    `INSERT INTO chain_breaks
     SELECT * REPLACE (
       {state:String} AS state, {cause:String} AS cause, {tries:UInt8} AS tries,
       ${CHANGED_NOW})
     FROM (
       SELECT * FROM chain_breaks FINAL
       WHERE wallet = {wallet:UInt32} AND account = {account:String} AND slot = {slot:UInt64}
         AND tx_index = {txIndex:UInt32} AND state = 'open' AND from_slot = {fromSlot:UInt64}
         AND from_tx_index = {fromTxIndex:UInt32} AND expected = {expected:UInt64}
         AND found = {found:UInt64}
     )`,
    {
      wallet,
      account,
      slot,
      txIndex,
      fromSlot: from.slot,
      fromTxIndex: from.txIndex,
      expected: read.expected,
      found: read.found,
      ...ended,
    },
  )
}

/** Opens the breaks again that were left because of `NOT_TRADED`, where the wallet has traded. */
export function reopenTraded(store: Store, changedAt: number): Promise<void> {
  const left = `SELECT * FROM chain_breaks FINAL WHERE state = 'unexplained' AND cause = '${NOT_TRADED}'`
  return store.command(
    `INSERT INTO chain_breaks
     SELECT * REPLACE (
       'open' AS state, '' AS cause, ${CHANGED_NOW})
     FROM (${left}) WHERE (wallet, mint) IN (${tradersOf(`SELECT mint FROM (${left})`)})`,
    { changedAt },
  )
}

/** Breaks of states, of some accounts if `where` says so, by wallet, account and place. */
export async function readBreaks(
  store: Store,
  states: readonly BreakState[],
  {
    wallet = 0,
    account,
    fromSlot = 0,
    limit = 10_000,
  }: {
    readonly wallet?: number
    readonly account?: string | undefined
    readonly fromSlot?: number
    readonly limit?: number
  } = {},
): Promise<ChainBreak[]> {
  const rows = await store.query<BreakRow>(
    `SELECT * EXCEPT (version, inserted_at) FROM chain_breaks FINAL
     WHERE state IN {states:Array(String)} AND slot >= {from:UInt64}
       ${wallet === 0 ? '' : 'AND wallet = {wallet:UInt32}'}
       ${account === undefined ? '' : 'AND account = {account:String}'}
     ORDER BY opened_at, wallet, account, slot, tx_index LIMIT {limit:UInt32}`,
    { states, wallet, account: account ?? '', from: fromSlot, limit },
  )
  return rows.map(breakOf)
}

/** Subquery: by wallet, open and unexplained breaks, and where the first of them begins. */
export const BREAK_COUNTS = `
  SELECT wallet, toUInt32(countIf(state = 'open')) AS open_breaks,
    toUInt32(countIf(state = 'unexplained')) AS unexplained_breaks,
    min(from_slot) AS first_break_slot
  FROM chain_breaks FINAL WHERE state IN ('open', 'unexplained') GROUP BY wallet`

/** Returns the numbers of open and of unexplained breaks of all wallets. */
export async function readBreakCounts(
  store: Store,
): Promise<{ readonly open: number; readonly unexplained: number }> {
  const [row] = await store.query<{ open: number; unexplained: number }>(
    `SELECT toUInt32(countIf(state = 'open')) AS open,
       toUInt32(countIf(state = 'unexplained')) AS unexplained
     FROM chain_breaks FINAL WHERE state IN ('open', 'unexplained')`,
    {},
    ['open', 'unexplained'],
  )
  return row ?? { open: 0, unexplained: 0 }
}

type BreakRow = Pick<ChainBreak, 'wallet' | 'account' | 'mint' | 'state' | 'cause' | 'tries'> &
  Record<'slot' | 'from_slot' | 'expected' | 'found', string> &
  Record<
    'tx_index' | 'from_tx_index' | 'from_time' | 'block_time' | 'opened_at' | 'changed_at',
    number
  >

function breakOf(row: BreakRow): ChainBreak {
  const { wallet, account, mint, state, cause, tries } = row
  return {
    wallet,
    account,
    slot: Number(row.slot),
    txIndex: row.tx_index,
    mint,
    blockTime: row.block_time,
    from: { slot: Number(row.from_slot), txIndex: row.from_tx_index },
    fromTime: row.from_time,
    expected: BigInt(row.expected),
    found: BigInt(row.found),
    state,
    cause,
    tries,
    openedAt: row.opened_at,
    changedAt: row.changed_at,
  }
}

function breakRow(found: ChainBreak, version: number): Row {
  return {
    wallet: found.wallet,
    account: found.account,
    slot: found.slot,
    tx_index: found.txIndex,
    mint: found.mint,
    from_slot: found.from.slot,
    from_tx_index: found.from.txIndex,
    from_time: found.fromTime,
    block_time: found.blockTime,
    expected: found.expected,
    found: found.found,
    state: found.state,
    cause: found.cause,
    tries: found.tries,
    opened_at: found.openedAt,
    changed_at: found.changedAt,
    version,
  }
}
