import test from 'ava'
import { aWatchedToken } from '../../testing/a-watched-token.ts'
import type { WatchlistChange } from '../../trending/watched-token.ts'
import { UnfinishedChanges } from './unfinished-changes.ts'

const change = (event: WatchlistChange['event'], mint: string, at: number): WatchlistChange => ({
  event,
  token: aWatchedToken({ mint, at }),
  reasons: ['a reason'],
})

test('rows of an unfinished tick are written again or corrected, each once', (t) => {
  const unfinished = new UnfinishedChanges([
    change('entered', 'A', 10),
    change('entered', 'B', 10),
    change('changed', 'C', 10),
    change('entered', 'D', 20),
  ])
  const listed = (mint: string) => (mint === 'C' ? aWatchedToken({ mint, at: 0 }) : null)
  const again = change('entered', 'A', 10)
  t.deepEqual(unfinished.correct(10, [again], listed), [
    again,
    { ...change('left', 'B', 10), reasons: ['it was never listed'] },
    { ...change('changed', 'C', 10), reasons: [] },
  ])
  t.deepEqual(unfinished.correct(20, [], listed), [
    { ...change('left', 'D', 20), reasons: ['it was never listed'] },
  ])
  t.deepEqual(unfinished.correct(30, [again], listed), [again])
})
