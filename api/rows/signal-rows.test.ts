import test from 'ava'
import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { readWatchlist } from '../../pipeline/store/tables/watchlist.ts'
import { signalItem } from '../items/signal.ts'
import { watchlistItem } from '../items/watchlist.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { MINT, QUIET_TOKEN } from '../testing/rows.ts'
import { readSignals, readSignalsAfter } from './signal-rows.ts'

/* Exact market caps in the tables `watchlist` and `signals`, and the figures served from them. */

const AT = 1_790_000_000

let opened: TestStore
let store: Store
test.before(async () => {
  opened = await openStore()
  store = opened.store
})
test.after.always(() => opened.remove())

/** Names a trade by its key and block, for people who read this test. */
const tradeId = (key: EventKey, blockId: bigint | null) => `${eventKeyText(key)} of ${blockId}`

const listRow = (at: number, rest: Row): Row => ({
  at,
  mint: MINT,
  entry: AT,
  event: 'entered',
  symbol: 'A',
  name: 'B',
  first_trade_at: AT,
  discovered_at: AT,
  oldest_hold_at: AT,
  last_trade_at: AT,
  wallets: [1, 2],
  conviction: 50,
  held_lamports: '0',
  pct_held: 1,
  buy_lamports: '0',
  sell_lamports: '0',
  ...QUIET_TOKEN,
  ...rest,
})
const firedRow = (strategy: string, rest: Row): Row => ({
  fired_at: AT,
  strategy,
  mint: MINT,
  entry: AT,
  id: strategy.padEnd(32, '0'),
  symbol: 'A',
  name: 'B',
  conviction: 50,
  wallets_holding: 2,
  wallets: [1, 2],
  held_lamports: '0',
  buy_lamports: '0',
  sell_lamports: '0',
  reasons: [],
  ...rest,
})

test.serial('a signal has the multiple of exact market caps, rounded once (rule G6)', async (t) => {
  // 7/30 of 1/3 is 0.7. Dividing their doubles, as for rows of old versions, gives one more bit.
  const current_mcap = 7 / 30
  const trigger_mcap = 1 / 3
  await store.insert('watchlist', [listRow(AT, { current_mcap, exact_mcap: '7/30' })])
  await store.insert('signals', [
    firedRow('exact', { trigger_mcap, exact_trigger_mcap: '1/3' }),
    firedRow('old', { trigger_mcap }),
    firedRow('unknown', {}),
  ])
  const multiples = async (at: number) => {
    const rows = await readSignals(
      store,
      { at, rows: await readWatchlist(store, at) },
      { limit: 9, tradeId },
    )
    return Object.fromEntries(rows.map(signalItem).map((item) => [item.strategy, item.multiple]))
  }
  t.deepEqual(await multiples(AT), { exact: 0.7, old: 0.7000000000000001, unknown: null })
  const left = { event: 'left', current_mcap: 0.4, exact_mcap: '2/5' }
  await store.insert('watchlist', [listRow(AT + 10, left)])
  t.deepEqual(await multiples(AT + 10), { exact: 1.2, old: 0.4 / trigger_mcap, unknown: null })
  const fired = await readSignalsAfter(store, AT - 10, AT)
  t.deepEqual(
    fired.map(signalItem).map(({ multiple }) => multiple),
    [1, 1, null],
  )
})

test.serial(
  'an unknown change of a market cap is null, and rows of old versions keep theirs',
  async (t) => {
    const at = AT + 100
    await store.insert('watchlist', [
      listRow(at, { mint: 'a', mcap_change_pct: 0, is_mcap_change_known: false }),
      listRow(at, { mint: 'b', mcap_change_pct: 12.5, mcap_trend: 'up' }),
    ])
    const rows = await readWatchlist(store, at)
    t.deepEqual(
      rows.map((row) => watchlistItem(row, at).momentum.mcap),
      [
        { value: null, change_pct: null, trend: 'flat' },
        { value: null, change_pct: 12.5, trend: 'up' },
      ],
    )
  },
)

test.serial(
  'a signal names the trades of the day before it that were withdrawn after it, and stays as it was (rule K9)',
  async (t) => {
    const [fired, mint] = [AT + 1000, 'c']
    await store.insert('signals', [
      firedRow('withdrawn', { fired_at: fired, mint }),
      firedRow('other', { fired_at: fired, mint: 'd' }),
    ])
    const withdrawn = (slot: number, block_time: number, rest: Row = {}): Row => ({
      epoch: 0,
      passed_slot: 100,
      partition: 0,
      offset: slot,
      slot,
      tx_index: 1,
      wallet: 2,
      event_index: 0,
      block_time,
      side: 'buy',
      base_mint: mint,
      base_amount: '1',
      base_decimals: 6,
      quote_mint: null,
      quote_amount: '0',
      program: 'pumpswap',
      confidence: 'high',
      quote_mismatch: false,
      block_id: '7',
      late_passed_slot: null,
      late_offset: null,
      inserted_at: `${fired + 20}.000`,
      ...rest,
    })
    await store.insert('withdrawn_swaps', [
      withdrawn(11, fired),
      withdrawn(12, fired - 86_399, { block_id: null }),
      withdrawn(13, fired + 1),
      withdrawn(14, fired - 86_400),
      withdrawn(15, fired - 100, { inserted_at: `${fired - 80}.000` }),
    ])
    const rows = await readSignals(store, { at: fired, rows: [] }, { limit: 2, tradeId })
    t.deepEqual(
      rows.map(signalItem).map((item) => [item.strategy, item.withdrawn_trades]),
      [
        ['other', undefined],
        ['withdrawn', ['11/1/2/0 of 7', '12/1/2/0 of null']],
      ],
    )
  },
)
