import test from 'ava'
import { EXAMPLE_WATCHLIST_ITEM } from '../../api/items/watchlist.ts'
import { fraction, nearestTo } from '../domain/fraction.ts'
import { anExactToken } from '../testing/a-watched-token.ts'
import { type Condition, evaluate, OPS, type Strategy } from './strategy.ts'
import { STRATEGY_FIELDS } from './strategy-fields.ts'
import type { ExactToken } from './watched-token.ts'

const AT = 1_790_000_000

const strategy = (name: string, ...conditions: Condition[]): Strategy => ({
  name,
  description: 'For tests.',
  conditions,
})

test('the fields of conditions are those of a watchlist item, by path (contract 2.7)', (t) => {
  const paths = (value: object, at = ''): string[] =>
    Object.entries(value).flatMap(([key, member]) =>
      typeof member === 'object' ? paths(member, `${at}${key}.`) : [`${at}${key}`],
    )
  t.deepEqual([...STRATEGY_FIELDS.keys()].sort(), paths(EXAMPLE_WATCHLIST_ITEM).sort())
  const read = Object.fromEntries(
    [...STRATEGY_FIELDS].map(([name, field]) => {
      const value = field.read(anExactToken(), AT + 30)
      return [name, typeof value === 'object' ? nearestTo(value) : value]
    }),
  )
  t.deepEqual(read, {
    mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    symbol: 'Bonk',
    name: 'Bonk Inu',
    age_seconds: 5430,
    discovered_seconds: 4840,
    wallets_holding: 4,
    conviction: 61.75,
    sol_held: 18.4,
    pct_held: 0.85,
    avg_entry_mcap: 412_000.5,
    current_mcap: 824_001,
    multiple: 2,
    band_min: 198_000,
    band_max: 640_300.25,
    buy_volume: 12.5,
    sell_volume: 3.125,
    oldest_hold_seconds: 5330,
    watchlist_seconds: 4830,
    'momentum.mcap.value': 824_001,
    'momentum.mcap.change_pct': 24.5,
    'momentum.mcap.trend': 'up',
    'momentum.holders.value': 4,
    'momentum.holders.change_pct': 100,
    'momentum.holders.trend': 'up',
    'momentum.volume1h.value': 15.625,
    'momentum.volume1h.change_pct': -12.5,
    'momentum.volume1h.trend': 'down',
    'momentum.liquidity.value': 310.75,
    'momentum.liquidity.change_pct': 1.5,
    'momentum.liquidity.trend': 'flat',
    state: 'accumulating',
    near_evict: false,
  })
})

test('a condition compares as its operator says, and never holds for an unknown figure', (t) => {
  const holding = (op: Condition['op'], threshold: Condition['threshold'], field = 'multiple') =>
    [1, 2, 3, null].filter(
      (multiple) =>
        evaluate(strategy('x', { field, op, threshold }), anExactToken({ multiple }), AT) !== null,
    )
  t.deepEqual(
    OPS.map((op) => [op, holding(op, 2)]),
    [
      ['>=', [2, 3]],
      ['>', [3]],
      ['<=', [1, 2]],
      ['<', [1]],
      ['=', [2]],
      ['!=', [1, 3]],
    ],
  )
})

test('a condition compares the exact figure with the decimal number of the file (rule G6)', (t) => {
  const share = { ...anExactToken(), pctHeld: fraction(3n, 5n) }
  const below = { ...anExactToken(), multiple: fraction(2n * 10n ** 30n - 1n, 10n ** 30n) }
  t.is(nearestTo(below.multiple), 2)
  const held = (field: string, threshold: number, token: ExactToken) =>
    OPS.filter((op) => evaluate(strategy('x', { field, op, threshold }), token, AT) !== null)
  // As doubles, 0.6 is less than 3 / 5, and the multiple below 2 equals 2.
  t.deepEqual(held('pct_held', 0.6, share), ['>=', '<=', '='])
  t.deepEqual(held('multiple', 2, below), ['<=', '<', '!='])
  t.deepEqual(evaluate(strategy('x', LESS_THAN_TWO), below, AT), [{ ...LESS_THAN_TWO, value: 2 }])
  const lamports = { ...anExactToken(), buyLamports: 5_000_000_001n }
  t.deepEqual(held('buy_volume', 5, lamports), ['>=', '>', '!='])
})

const LESS_THAN_TWO: Condition = { field: 'multiple', op: '<', threshold: 2 }
