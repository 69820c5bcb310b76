import test from 'ava'
import fc from 'fast-check'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createCursorCodec } from '../cursor.ts'
import { BONK, JUP } from '../testing/a-swap.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { memoryViews, type ViewChange } from '../testing/view-source.ts'
import { followView } from './follow-view.ts'
import { endOfTick, startOfSnapshot, type ViewPosition } from './view-position.ts'
import { ViewRelay } from './view-relay.ts'

/* How webhooks follow the watchlist and signals (rule M1). */

const T = 1_790_000_000

function startRelay(retentionHours = 24) {
  const views = memoryViews()
  const relay = new ViewRelay({
    source: views.source,
    cursors: createCursorCodec(cursorKeys(1)),
    retentionHours,
    logger: createLogger('silent'),
  })
  const follow = (after: ViewPosition, more: object = {}) =>
    followView(relay, {
      account: 'alice',
      channel: 'watchlist',
      mints: null,
      after,
      most: 100,
      waitMs: 0,
      signal: new AbortController().signal,
      ...more,
    })
  return { views, relay, follow }
}

const short = ({ text }: { readonly text: string }) => {
  const { type, event, snapshot, channel, data } = JSON.parse(text)
  if (type !== undefined) return type as string
  const how = event ?? (snapshot ? 'snapshot' : 'fired')
  return `${channel} ${how} ${data.mint === BONK ? 'BONK' : 'JUP'}`
}

const aChange = fc.record({
  mint: fc.constantFrom(BONK, JUP),
  event: fc.constantFrom<ViewChange['event']>('entered', 'changed', 'left', 'fired'),
})
const someTicks = fc.array(fc.uniqueArray(aChange, { maxLength: 5 }), { maxLength: 8 })

test('in pieces of any size a follower gets each message of its channel and tokens once, in order', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      someTicks,
      fc.constantFrom('watchlist' as const, 'signals' as const),
      fc.constantFrom(null, new Set<string>([BONK])),
      fc.integer({ min: 1, max: 3 }),
      async (ticks, channel, mints, most) => {
        const { views, relay, follow } = startRelay()
        views.tick(T)
        await relay.poll()
        let position = endOfTick(T)
        const got: string[] = []
        const takeAll = async () => {
          for (;;) {
            const { messages, end } = await follow(position, { channel, mints, most })
            if (messages.length === 0) return
            got.push(...messages.map(short))
            position = end
          }
        }
        for (const [index, changes] of ticks.entries()) {
          views.tick(T + 1 + index, changes)
          await relay.poll()
          if (index % 3 === 0) await takeAll()
        }
        await takeAll()
        const rows = await views.source.changes(T, T + ticks.length)
        const wanted = rows.filter(
          (row) => row.channel === channel && (mints === null || mints.has(row.mint)),
        )
        t.deepEqual(
          got,
          wanted.map(({ event, mint }) => `${channel} ${event} ${mint === BONK ? 'BONK' : 'JUP'}`),
        )
      },
    ),
  )
})

test('who starts before the first tick, or comes after the retention, gets a snapshot and its end', async (t) => {
  const { views, relay, follow } = startRelay(1)
  t.deepEqual(await follow(startOfSnapshot(0)), { messages: [], end: startOfSnapshot(0) })
  views.tick(T, [
    { mint: JUP, event: 'entered' },
    { mint: BONK, event: 'entered' },
  ])
  await relay.poll()
  const first = await follow(startOfSnapshot(0), { most: 1 })
  t.deepEqual(first.messages.map(short), ['watchlist snapshot BONK'])
  const second = await follow(first.end, { most: 1 })
  t.deepEqual(second.messages.map(short), ['watchlist snapshot JUP', 'snapshot_complete'])
  t.deepEqual(second.end, endOfTick(T))

  views.tick(T + 7200, [{ mint: JUP, event: 'left' }])
  await relay.poll()
  const gap = await follow(second.end)
  t.deepEqual(gap.messages.map(short), ['gap'])
  const rest = await follow(gap.end)
  t.deepEqual(rest.messages.map(short), ['watchlist snapshot BONK', 'snapshot_complete'])
})

test('a wait ends with the next message, and at once when nobody waits any more', async (t) => {
  const { views, relay, follow } = startRelay()
  views.tick(T)
  await relay.poll()
  const waiting = follow(endOfTick(T), { waitMs: 600_000 })
  views.tick(T + 1)
  await relay.poll()
  views.tick(T + 2, [{ mint: JUP, event: 'entered' }])
  await relay.poll()
  t.deepEqual((await waiting).messages.map(short), ['watchlist entered JUP'])

  const leaving = new AbortController()
  const left = follow(endOfTick(T + 2), { waitMs: 600_000, signal: leaving.signal })
  leaving.abort()
  t.deepEqual(await left, { messages: [], end: endOfTick(T + 2) })
})
