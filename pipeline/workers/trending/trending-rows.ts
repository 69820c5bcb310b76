import type { Row, Store } from '../../store/store.ts'
import {
  readWatchlist,
  readWatchlistChanges,
  type WatchlistRow,
} from '../../store/tables/watchlist.ts'
import type {
  Momentum,
  Trend,
  WatchedToken,
  WatchlistChange,
} from '../../trending/watched-token.ts'

/** Row of table `watchlist`. */
export function watchlistRow({ event, token, reasons }: WatchlistChange): Row {
  const { mcap, holders, volume1h, liquidity } = token.momentum
  return {
    at: token.at,
    mint: token.mint,
    entry: token.enteredAt,
    event,
    symbol: token.symbol,
    name: token.name,
    first_trade_at: token.firstTradeAt,
    discovered_at: token.discoveredAt,
    oldest_hold_at: token.oldestHoldAt,
    last_trade_at: token.lastTradeAt,
    wallets: token.wallets,
    conviction: token.conviction,
    held_lamports: token.heldLamports,
    pct_held: token.pctHeld,
    avg_entry_mcap: token.avgEntryMcap,
    current_mcap: token.currentMcap,
    exact_mcap: token.exactMcap,
    multiple: token.multiple,
    band_min: token.bandMin,
    band_max: token.bandMax,
    buy_lamports: token.buyLamports,
    sell_lamports: token.sellLamports,
    mcap_change_pct: mcap.changePct ?? 0,
    is_mcap_change_known: mcap.changePct !== null,
    mcap_trend: mcap.trend,
    holders_change_pct: holders.changePct,
    holders_trend: holders.trend,
    volume1h: volume1h.value,
    volume1h_change_pct: volume1h.changePct,
    volume1h_trend: volume1h.trend,
    liquidity: liquidity.value,
    liquidity_change_pct: liquidity.changePct,
    liquidity_trend: liquidity.trend,
    state: token.state,
    near_evict: token.nearEvict,
    reasons,
  }
}

/** Returns the newest row of each token that is on the list as of tick `at`. */
export async function readListedTokens(store: Store, at: number): Promise<WatchedToken[]> {
  const rows = await readWatchlist(store, at)
  return rows.map((row) => changeOf(row).token)
}

/** Returns the rows after tick `after` and up to tick `through`, ordered by `(at, mint)`. */
export async function readChanges(
  store: Store,
  after: number,
  through: number,
): Promise<WatchlistChange[]> {
  const rows = await readWatchlistChanges(store, after, through)
  return rows.map(changeOf)
}

function changeOf(row: WatchlistRow): WatchlistChange {
  const momentum = (value: number | null, changePct: number | null, trend: Trend): Momentum => ({
    value,
    changePct,
    trend,
  })
  return {
    event: row.event,
    reasons: row.reasons,
    token: {
      at: row.at,
      mint: row.mint,
      symbol: row.symbol,
      name: row.name,
      firstTradeAt: row.first_trade_at,
      discoveredAt: row.discovered_at,
      enteredAt: row.entry,
      oldestHoldAt: row.oldest_hold_at,
      lastTradeAt: row.last_trade_at,
      walletsHolding: row.wallets.length,
      wallets: row.wallets,
      conviction: row.conviction,
      heldLamports: BigInt(row.held_lamports),
      pctHeld: row.pct_held,
      avgEntryMcap: row.avg_entry_mcap,
      currentMcap: row.current_mcap,
      exactMcap: row.exact_mcap,
      multiple: row.multiple,
      bandMin: row.band_min,
      bandMax: row.band_max,
      buyLamports: BigInt(row.buy_lamports),
      sellLamports: BigInt(row.sell_lamports),
      momentum: {
        mcap: momentum(row.current_mcap, row.mcap_change_pct, row.mcap_trend),
        holders: momentum(row.wallets.length, row.holders_change_pct, row.holders_trend),
        volume1h: momentum(row.volume1h, row.volume1h_change_pct, row.volume1h_trend),
        liquidity: momentum(row.liquidity, row.liquidity_change_pct, row.liquidity_trend),
      },
      state: row.state,
      nearEvict: row.near_evict,
    },
  }
}
