import { type Perturb, serveSwap } from '../../domain/perturbation.ts'
import type { Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf } from './event-rows.ts'
import { swapsOfMints } from './swaps.ts'

/** The swaps of a token in the last hour or day. */
export interface Activity {
  readonly buys: number
  readonly sells: number
  /** Sum of their values; swaps without a value add nothing. */
  readonly volumeLamports: bigint
  /** Distinct wallets. */
  readonly wallets: number
}

/** The swaps of a token in the hour and in the day up to a time. */
export interface TokenActivity {
  readonly hour: Activity
  readonly day: Activity
}

const NONE: Activity = { buys: 0, sells: 0, volumeLamports: 0n, wallets: 0 }
export const NO_ACTIVITY: TokenActivity = { hour: NONE, day: NONE }

const HOUR = 3600
const DAY = 86_400

/** Which swaps are summed. */
interface ActivityOf {
  readonly mint: string
  /** Unix seconds: the block time of the storage marker. */
  readonly now: number
  /** Slot of the storage marker. */
  readonly stored: number
  /** Whether stored swaps were ever corrected. */
  readonly wasRedecoded: boolean
  readonly perturb: Perturb | null
}

/**
 * Sums the swaps of a mint in the last hour and the last day (rule L9): after `now - 3600` or
 * `now - 86,400`, and up to now. With a salt, values and times are the served ones.
 */
export function readTokenActivity(store: Store, of: ActivityOf): Promise<TokenActivity> {
  const { mint, now, stored, wasRedecoded, perturb } = of
  const range = { mints: [mint], stored, from: Math.max(0, now - DAY), through: now }
  return perturb === null
    ? sumInStore(store, range, wasRedecoded)
    : sumServed(store, range, wasRedecoded, perturb)
}

interface Range {
  readonly mints: readonly string[]
  readonly stored: number
  readonly from: number
  readonly through: number
}

const BY_MINT = `SETTINGS preferred_optimize_projection_name = 'by_mint'`

async function sumInStore(
  store: Store,
  range: Range,
  wasRedecoded: boolean,
): Promise<TokenActivity> {
  const hour = Math.max(0, range.through - HOUR)
  const rows = await store.query<
    { readonly after: number } & Record<'buys' | 'sells' | 'volume' | 'wallets', string>
  >(
    `SELECT arrayJoin(arrayFilter(time -> block_time > time, [{from:UInt32}, {hour:UInt32}])) AS after,
      countIf(side = 'buy') AS buys, countIf(side = 'sell') AS sells,
      toString(sum(ifNull(value_lamports, 0))) AS volume, uniqExact(wallet) AS wallets
     FROM ${swapsOfMints('side, value_lamports', wasRedecoded)}
     GROUP BY after LIMIT 2 ${BY_MINT}`,
    { ...range, hour },
    ['after', 'buys', 'sells', 'volume', 'wallets'],
  )
  const since = (time: number): Activity => {
    const row = rows.find(({ after }) => after === time)
    if (row === undefined) return NONE
    const { buys, sells, volume, wallets } = row
    return {
      buys: Number(buys),
      sells: Number(sells),
      volumeLamports: BigInt(volume),
      wallets: Number(wallets),
    }
  }
  return { hour: since(hour), day: since(range.from) }
}

/** The store does not know the salt. So each swap of the day is read. */
async function sumServed(
  store: Store,
  range: Range,
  wasRedecoded: boolean,
  perturb: Perturb,
): Promise<TokenActivity> {
  const rows = await store.query<
    EventKeyRow & {
      readonly block_time: number
      readonly side: 'buy' | 'sell'
      readonly value: string | null
    }
  >(
    `SELECT ${EVENT_KEY}, block_time, side, toString(value_lamports) AS value
     FROM ${swapsOfMints('side, value_lamports', wasRedecoded)} LIMIT 10000000 ${BY_MINT}`,
    { ...range },
  )
  const swaps = rows.map((row) =>
    serveSwap(
      {
        ...keyOf(row),
        blockTime: row.block_time,
        baseAmount: 0n,
        quoteAmount: 0n,
        valueLamports: row.value === null ? null : BigInt(row.value),
        side: row.side,
      },
      perturb,
    ),
  )
  const since = (after: number): Activity => {
    const some = swaps.filter(({ blockTime }) => blockTime > after)
    return {
      buys: some.filter(({ side }) => side === 'buy').length,
      sells: some.filter(({ side }) => side === 'sell').length,
      volumeLamports: some.reduce((sum, { valueLamports }) => sum + (valueLamports ?? 0n), 0n),
      wallets: new Set(some.map(({ wallet }) => wallet)).size,
    }
  }
  return { hour: since(range.through - HOUR), day: since(range.through - DAY) }
}
