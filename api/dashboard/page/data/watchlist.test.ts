import test from 'ava'
import { applyWatchlistMessages, watchlistFromResponse } from './watchlist.ts'

const watched = (mint: string, conviction: number) =>
  // The cast is safe: the test uses only these members.
  ({ mint, conviction }) as Parameters<typeof watchlistFromResponse>[0][number]

test('the watchlist applies the messages of its channel, and a complete snapshot replaces it', (t) => {
  const shown = (view: ReturnType<typeof watchlistFromResponse>) =>
    [...view.rows.values()].map(({ item, receivedAt }) => [item.mint, item.conviction, receivedAt])
  const start = watchlistFromResponse([watched('a', 1), watched('b', 2)], 100, null)
  const halfway = applyWatchlistMessages(
    start,
    [{ channel: 'watchlist', id: '1', snapshot: true, data: watched('b', 3) }],
    200,
  )
  t.deepEqual(shown(halfway), [
    ['a', 1, 100],
    ['b', 3, 200],
  ])
  const whole = applyWatchlistMessages(
    halfway,
    [
      { channel: 'watchlist', id: '2', snapshot: true, data: watched('c', 4) },
      { type: 'snapshot_complete', cursor: '3' },
      { channel: 'watchlist', id: '4', event: 'entered', data: watched('d', 5) },
      { channel: 'watchlist', id: '5', event: 'changed', data: watched('b', 6) },
      { channel: 'watchlist', id: '6', event: 'left', data: { mint: 'c', symbol: '', name: '' } },
      { channel: 'signals', id: '7', data: { id: 'x' } },
    ],
    300,
  )
  t.deepEqual(shown(whole), [
    ['b', 6, 300],
    ['d', 5, 300],
  ])
  t.deepEqual(shown(applyWatchlistMessages(whole, [{ type: 'snapshot_complete' }], 400)), [])
  // A REST response during a snapshot does not discard the mints received so far.
  const again = watchlistFromResponse([watched('a', 7), watched('b', 8)], 250, halfway)
  t.deepEqual(shown(applyWatchlistMessages(again, [{ type: 'snapshot_complete' }], 300)), [
    ['b', 8, 250],
  ])
})
