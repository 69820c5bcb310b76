import test from 'ava'
import { reportTo } from './progress.ts'

/** The text on the stream after a command has reported three steps within a second. */
function shown(isTTY: boolean): string {
  let text = ''
  const stream = { isTTY, write: (chunk: string) => (text += chunk) }
  let now = 0
  // The cast is safe: a report uses only these two members of a stream.
  const report = reportTo(stream as unknown as NodeJS.WriteStream, () => now)
  for (const done of [0, 1, 3]) {
    report({ what: 'wallets', done, total: 3 })
    now += 50
  }
  return text
}

test('progress is at most one JSON line a second and always the last, or a bar on a terminal (rule J3)', (t) => {
  t.is(
    shown(false),
    '{"progress":{"what":"wallets","done":0,"total":3}}\n{"progress":{"what":"wallets","done":3,"total":3}}\n',
  )
  t.is(
    shown(true),
    '\r[..............................] 0/3 wallets\r[##############################] 3/3 wallets\n',
  )
})
