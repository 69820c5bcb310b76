import test from 'ava'
import { describeSilences, longestSilences } from './silence.ts'

test('a silence is counted from the moment or the trade before it, until the next trade', (t) => {
  const arrivals = [100, 400, 450, 1900, 2000, 2100]
  const moments = [
    { at: 200, name: 'kill' },
    { at: 500, name: 'cut' },
    { at: 1950, name: 'cut' },
    { at: 3000, name: 'stop' },
  ]
  const silences = longestSilences(arrivals, moments)
  t.deepEqual(silences, [
    { name: 'kill', ms: 1450 },
    { name: 'cut', ms: 1400 },
    { name: 'cut', ms: 100 },
  ])
  t.deepEqual(describeSilences(silences), [
    'no trade for at most 1.4 s, median 0.1 s, after 2 times: cut',
    'no trade for at most 1.4 s, median 1.4 s, after 1 times: kill',
  ])
})
