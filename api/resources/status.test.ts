import test from 'ava'
import { status } from './status.ts'

/** `lag_seconds` at unix second 1000, when storage and feed are at slots of these seconds. */
async function lag(stored: number | null, sent: number | null): Promise<unknown> {
  const at = (blockTime: number | null) => (blockTime === null ? null : { slot: 7, blockTime })
  const { handle } = status({
    position: { stored: () => at(stored), breaks: () => ({ open: 0, unexplained: 0 }) },
    feed: { sealed: () => null, sent: () => at(sent), finalized: () => null, connections: () => 0 },
    now: () => 1_000_900,
  } as never) // the answer needs no more of its parts
  const { body } = await handle({} as never, {} as never)
  return (body as { lag_seconds: unknown }).lag_seconds
}

test('the lag is that of the stage furthest behind, storage or feed (rule J4)', async (t) => {
  t.is(await lag(999, 998), 2)
  t.is(await lag(985, 999), 15)
  t.is(await lag(1001, 1001), 0)
  t.is(await lag(null, 999), null)
  t.is(await lag(999, null), null)
})
