import test from 'ava'
import { reportTo } from './progress.ts'

/** The text on the stream after a command has reported these steps, `ms` apart. */
function shown(isTTY: boolean, steps: readonly number[], total: number | null, ms: number): string {
  let text = ''
  const stream = { isTTY, write: (chunk: string) => (text += chunk) }
  let now = 0
  // The cast is safe: a report uses only these two members of a stream.
  const report = reportTo(stream as unknown as NodeJS.WriteStream, () => now)
  for (const done of steps) {
    report({ what: 'wallets', done, total })
    now += ms
  }
  return text
}

test('progress is at most one JSON line a second and always the last, or a bar on a terminal (rule J3)', (t) => {
  t.is(
    shown(false, [0, 1, 3], 3, 50),
    '{"progress":{"what":"wallets","done":0,"total":3}}\n{"progress":{"what":"wallets","done":3,"total":3}}\n',
  )
  t.is(
    shown(true, [0, 1, 3], 3, 50),
    '\r[..............................] 0/3 wallets\x1b[K\r[##############################] 3/3 wallets, 30/s\x1b[K\n',
  )
})

test('a bar shows the rate since the first report and the time left', (t) => {
  const last = (steps: readonly number[], total: number | null, ms: number) =>
    shown(true, steps, total, ms).split('\r').at(-1)?.replace('\x1b[K', '')
  t.is(last([2, 5], 8, 2000), '[##################............] 5/8 wallets, 1.5/s, 2 s left')
  t.is(
    last([0, 20], 4000, 1000),
    '[..............................] 20/4000 wallets, 20/s, 4 min left',
  )
  t.is(last([0, 1], 4000, 5000), '[..............................] 1/4000 wallets, 0.2/s, 6 h left')
  t.is(last([0, 30], null, 1000), '30 wallets, 30/s')
  t.is(last([3, 3], 8, 1000), '[###########...................] 3/8 wallets')
})
