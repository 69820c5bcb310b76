import test from 'ava'
import {
  applySignalMessages,
  reasonText,
  signalsFromResponse,
  strategyTitle,
} from './signal-text.ts'

test('a signal is listed once, and its conditions are readable', (t) => {
  const signal = (id: string, fired_at: number) =>
    // the members that the test uses
    ({ id, fired_at }) as Parameters<typeof signalsFromResponse>[0][number]
  const signals = applySignalMessages(signalsFromResponse([signal('b', 2), signal('a', 1)]), [
    { channel: 'signals', id: '1', data: signal('b', 2) },
    { channel: 'signals', id: '2', data: signal('c', 3) },
  ])
  t.deepEqual([...signals.keys()], ['a', 'b', 'c'])
  t.deepEqual(
    [
      reasonText({ field: 'conviction', op: '>=', threshold: 60, value: 72.5 }),
      reasonText({ field: 'pct_held', op: '<', threshold: 0.5, value: 0.25 }),
      reasonText({ field: 'watchlist_seconds', op: '<=', threshold: 3600, value: 90 }),
      reasonText({ field: 'state', op: '=', threshold: 'accumulating', value: 'accumulating' }),
      reasonText({ field: 'near_evict', op: '=', threshold: false, value: false }),
      reasonText({ field: 'momentum.mcap.change_pct', op: '>', threshold: 5, value: 12.34 }),
      reasonText({ field: 'momentum.liquidity.trend', op: '!=', threshold: 'down', value: 'up' }),
      reasonText({ field: 'something_new', op: '>', threshold: 1, value: 2 }),
    ],
    [
      'conviction was 72.5 (at least 60)',
      'the share held was 25% (below 50%)',
      'the time on the list was 1 min 30 s (at most 1 h)',
      'the state was accumulating',
      'the token was not about to leave the list',
      'the market cap changed by +12.3% in one hour (above +5%)',
      'the trend of the liquidity was up (not down)',
      'something new was 2 (above 1)',
    ],
  )
  t.is(strategyTitle('smart-money-exit'), 'Smart money exit')
})
