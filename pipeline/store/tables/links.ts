import { batches } from '../../runtime/batches.ts'
import type { Store } from '../store.ts'
import { SNAPSHOT_ENTRIES, SNAPSHOT_SLOTS, SNAPSHOT_TX_INDEX } from './balance-snapshots.ts'
import { WITHDRAWN_SLOTS } from './withdrawn-slots.ts'

/** An account of a tracked wallet: the address of a token account, or '' for the wallet's SOL. */
export interface ChainKey {
  readonly wallet: number
  readonly account: string
}

/** A place among the links of an account. That of a snapshot follows all transactions of a slot. */
export interface LinkPlace {
  readonly slot: number
  readonly txIndex: number
}

/** A stored link: what an account held before and after a transaction (rule K8). */
export interface StoredLink extends ChainKey, LinkPlace {
  /** '' for SOL. */
  readonly mint: string
  /** Null where it was not stored yet. */
  readonly before: bigint | null
  readonly after: bigint
}

/** Two neighbouring links of an account of which the second does not begin as the first ended. */
export interface Seam extends ChainKey, LinkPlace {
  readonly mint: string
  /** Unix seconds of the second link; 0 if it is a snapshot. */
  readonly blockTime: number
  readonly from: LinkPlace
  /** Unix seconds of the first link; 0 if it is a snapshot. */
  readonly fromTime: number
  /** What the first link ended with. */
  readonly expected: bigint
  /** What the second link begins with. */
  readonly found: bigint
}

/** Returns -1, 0 or 1: the order of two places. */
export function comparePlaces(a: LinkPlace, b: LinkPlace): number {
  return Math.sign(a.slot - b.slot || a.txIndex - b.txIndex)
}

/** The columns that all links have, of SOL and of tokens. FINAL returns deleted rows too. */
const SOL_LINKS = `SELECT wallet, '' AS account, slot, tx_index, block_time, '' AS mint, lamports_before AS before, lamports AS after FROM sol_balances FINAL WHERE is_deleted = 0`
const TOKEN_LINKS = `SELECT wallet, account, slot, tx_index, block_time, mint, toNullable(amount_before) AS before, amount_after AS after FROM token_links FINAL WHERE is_deleted = 0`

/**
 * Whether the slot of a link was never withdrawn. A link of a withdrawn slot may be void, so a
 * query that can do without some links leaves all of those out.
 */
const IS_STANDING = `slot NOT IN (${WITHDRAWN_SLOTS})`

/** Subquery: the slot of the newest link of each wallet's SOL. */
export const NEWEST_SOL_LINKS = `SELECT wallet, max(slot) AS newest_slot FROM sol_balances WHERE ${IS_STANDING} GROUP BY wallet`

/** A statement of more than 256 KiB is refused (`max_query_size`). */
const ACCOUNTS_PER_QUERY = 1000

/** The tables of links: the columns that name an account, and what is read. */
const CHAINS = [
  { table: 'sol_balances', key: 'wallet', ofSol: true, read: "'' AS account, lamports AS after" },
  {
    table: 'token_links',
    key: 'wallet, account',
    ofSol: false,
    read: 'account, amount_after AS after',
  },
]

/**
 * Returns what each account held before a place, as far as it is known: after its previous link, or
 * in a later snapshot. Links of withdrawn slots are left out. The keys of the answer are
 * `chainText`s.
 */
export async function readEndsBefore(
  store: Store,
  wanted: readonly (ChainKey & LinkPlace)[],
): Promise<Map<string, LinkPlace & { readonly after: bigint }>> {
  const found = new Map<string, LinkPlace & { readonly after: bigint }>()
  for (const { table, key, ofSol, read } of CHAINS) {
    const accounts = wanted.filter(({ account }) => (account === '') === ofSol)
    for (const some of batches(accounts, ACCOUNTS_PER_QUERY)) {
      const places = some.map(
        (one) => `(${one.wallet}, '${one.account}', ${one.slot}, ${one.txIndex})`,
      )
      // One query for all of them: a part of a union for each would take some 5 ms.
      const rows = await store.query<EndRow>(
        `WITH places AS (SELECT place.wallet AS wallet, place.account AS account, place.slot AS before_slot, place.tx AS before_tx
           FROM (SELECT arrayJoin(CAST([${places.join()}], 'Array(Tuple(wallet UInt32, account String, slot UInt64, tx UInt32))')) AS place))
         SELECT wallet, ${read}, slot, tx_index FROM ${table} INNER JOIN places USING (${key})
         WHERE (${key}) IN (SELECT ${key} FROM places) AND (slot, tx_index) < (before_slot, before_tx) AND ${IS_STANDING}
         ORDER BY slot DESC, tx_index DESC, version DESC LIMIT 1 BY ${key} LIMIT ${ACCOUNTS_PER_QUERY}`,
      )
      for (const row of rows) found.set(chainText(row), endOf(row))
    }
  }
  return found
}

type EndRow = ChainKey & {
  readonly slot: string
  readonly tx_index: number
  readonly after: string
}

function endOf({ slot, tx_index, after }: EndRow) {
  return { slot: Number(slot), txIndex: tx_index, after: BigInt(after) }
}

/** Returns an account of a wallet as text. */
export function chainText({ wallet, account }: ChainKey): string {
  return `${wallet}/${account}`
}

/** A stretch of the chain of one account. */
export interface Stretch extends ChainKey {
  readonly fromSlot: number
  readonly toSlot: number
}

/**
 * Returns the slots of the last link below a stretch and of the first one above it; 0 and the
 * highest slot where there is none.
 */
export async function readNeighbours(
  store: Store,
  { wallet, account, fromSlot, toSlot }: Stretch,
): Promise<{ readonly fromSlot: number; readonly toSlot: number }> {
  const [table, key] =
    account === ''
      ? ['sol_balances', 'wallet = {wallet:UInt32}']
      : ['token_links', 'wallet = {wallet:UInt32} AND account = {account:String}']
  const params = { wallet, account, from: fromSlot, to: toSlot }
  const [row] = await store.query<{ below: string; above: string }>(
    `SELECT (SELECT max(slot) FROM ${table} WHERE ${key} AND ${IS_STANDING} AND slot < {from:UInt64}) AS below,
       (SELECT min(slot) FROM ${table} WHERE ${key} AND ${IS_STANDING} AND slot > {to:UInt64}) AS above`,
    params,
  )
  return {
    fromSlot: Number(row?.below),
    toSlot: Number(row?.above) || Number.MAX_SAFE_INTEGER,
  }
}

/**
 * Returns the seams of a wallet where a link does not begin with what the previous one ended with,
 * in order; of one stretch, or of all its accounts. Snapshots count as links that change nothing.
 */
export async function readSeams(
  store: Store,
  wallet: number,
  stretch: Stretch | null,
  limit = 1000,
): Promise<Seam[]> {
  const within =
    stretch === null ? '' : `AND slot BETWEEN ${stretch.fromSlot} AND ${stretch.toSlot}`
  const ofAccount = stretch === null ? '' : 'AND account = {account:String}'
  const parts = [
    stretch === null || stretch.account === ''
      ? `${SOL_LINKS} AND wallet = {wallet:UInt32} ${within}`
      : [],
    stretch?.account === ''
      ? []
      : `${TOKEN_LINKS} AND wallet = {wallet:UInt32} ${ofAccount} ${within}`,
    SNAPSHOT_ENTRIES(`wallet = {wallet:UInt32} ${ofAccount} ${within}`),
    stretch?.account === '' ? [] : emptyAccounts(`wallet = {wallet:UInt32} ${ofAccount}`, within),
  ].flat()
  const rows = await store.query<SeamRow>(
    `SELECT * FROM (
       SELECT wallet, account, slot, tx_index, block_time, mint, before,
         lagInFrame(after) OVER chain AS expected, lagInFrame(slot) OVER chain AS from_slot,
         lagInFrame(tx_index) OVER chain AS from_tx_index, lagInFrame(block_time) OVER chain AS from_time, row_number() OVER chain AS place
       FROM (${parts.join(' UNION ALL ')})
       WINDOW chain AS (PARTITION BY account ORDER BY slot, tx_index ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
     ) WHERE place > 1 AND before != expected
     ORDER BY account, slot, tx_index LIMIT {limit:UInt32}`,
    { wallet, account: stretch?.account ?? '', limit },
  )
  return rows.map((row) => ({
    wallet: row.wallet,
    account: row.account,
    slot: Number(row.slot),
    txIndex: row.tx_index,
    mint: row.mint,
    blockTime: row.block_time,
    from: { slot: Number(row.from_slot), txIndex: row.from_tx_index },
    fromTime: row.from_time,
    expected: BigInt(row.expected),
    found: BigInt(row.before),
  }))
}

type SeamRow = ChainKey &
  Record<'slot' | 'from_slot' | 'before' | 'expected', string> &
  Record<'tx_index' | 'from_tx_index' | 'from_time' | 'block_time', number> & {
    readonly mint: string
  }

/** Subquery: accounts that the first snapshot of their wallet lacks held nothing then. */
function emptyAccounts(where: string, within: string): string {
  const opening = `(SELECT slot FROM (${SNAPSHOT_SLOTS}) WHERE wallet = {wallet:UInt32})`
  return `SELECT * FROM (
    SELECT DISTINCT wallet, account, ${opening} AS slot, toUInt32(${SNAPSHOT_TX_INDEX}) AS tx_index,
      toUInt32(0) AS block_time, '' AS mint, toNullable(toUInt64(0)) AS before, toUInt64(0) AS after
    FROM (SELECT wallet, account FROM token_links WHERE ${where}
      UNION ALL SELECT wallet, account FROM balance_snapshots WHERE ${where} AND account != '')
    WHERE account NOT IN (SELECT account FROM balance_snapshots WHERE wallet = {wallet:UInt32} AND balance_snapshots.slot <= ${opening})
  ) WHERE slot > 0 ${within}`
}

/** What an account held as of a slot, by its newest link or snapshot. */
export interface LastBalance {
  readonly account: string
  readonly mint: string
  readonly amount: bigint
  readonly slot: number
}

/** Returns what each account of a wallet held as of a slot, by its links and snapshots. */
export async function readLastBalances(
  store: Store,
  wallet: number,
  slot: number,
): Promise<LastBalance[]> {
  const until = 'wallet = {wallet:UInt32} AND slot <= {slot:UInt64}'
  const parts = [
    `${SOL_LINKS} AND ${until}`,
    `${TOKEN_LINKS} AND ${until}`,
    SNAPSHOT_ENTRIES(until),
  ]
  const rows = await store.query<Record<'account' | 'of_mint' | 'amount' | 'newest', string>>(
    `SELECT account, argMax(mint, (slot, tx_index)) AS of_mint,
       argMax(after, (slot, tx_index)) AS amount, max(slot) AS newest
     FROM (${parts.join(' UNION ALL ')}) GROUP BY account ORDER BY account LIMIT 10000000`,
    { wallet, slot },
  )
  return rows.map(({ account, of_mint, amount, newest }) => ({
    account,
    mint: of_mint,
    amount: BigInt(amount),
    slot: Number(newest),
  }))
}

/** Subquery: what the links of a wallet change, by transaction and mint, from a slot to another. */
export const LINK_CHANGES = `
  SELECT slot, tx_index, mint, sum(toInt256(amount_after) - toInt256(amount_before)) AS change
  FROM token_links FINAL
  WHERE is_deleted = 0 AND wallet = {wallet:UInt32} AND slot > {from:UInt64} AND slot <= {to:UInt64}
  GROUP BY slot, tx_index, mint`

/**
 * Returns the links of slots beyond `slot`, in the order of slots, at most `limit`: those that a
 * check may have missed when its process ended.
 */
export async function readLinksBeyond(
  store: Store,
  slot: number,
  limit: number,
): Promise<StoredLink[]> {
  const rows = await store.query<LinkRow>(
    `SELECT wallet, account, slot, tx_index, mint, before, after FROM (
       ${SOL_LINKS} AND slot > {slot:UInt64} UNION ALL ${TOKEN_LINKS} AND slot > {slot:UInt64}
     ) ORDER BY slot, tx_index, wallet, account LIMIT {limit:UInt32}`,
    { slot, limit },
  )
  return rows.map((row) => ({
    wallet: row.wallet,
    account: row.account,
    slot: Number(row.slot),
    txIndex: row.tx_index,
    mint: row.mint,
    before: row.before === null ? null : BigInt(row.before),
    after: BigInt(row.after),
  }))
}

type LinkRow = ChainKey &
  Record<'slot' | 'after' | 'mint', string> & {
    readonly tx_index: number
    readonly before: string | null
  }
