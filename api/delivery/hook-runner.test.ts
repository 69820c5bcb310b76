import test from 'ava'
import fc from 'fast-check'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import type { HookAttempt } from '../webhooks/deliveries.ts'
import type { HookProgress } from '../webhooks/hook-progress.ts'
import type { StoredWebhook } from '../webhooks/webhooks.ts'
import { HookRunner } from './hook-runner.ts'
import type { HookMessage, HookSource } from './hook-source.ts'
import type { Outcome } from './receiver.ts'

/*
 * One webhook (rule M1) over a list of messages in memory. A position is the number of messages
 * before it.
 */

const HOOK: StoredWebhook = {
  id: '0b54b1c5-5ce5-4a57-9a1a-6e3f0a6a1f10',
  account: 'alice',
  url: 'https://bot.example/trades',
  channel: 'trades',
  wallets: [],
  mints: [],
  isActive: true,
  activations: 0,
  filters: 0,
  rotations: 0,
  rotatedAt: null,
  replays: 1,
  replayAfter: '0',
  tests: 0,
  createdAt: 0,
}
const ACCEPTED = { failure: null, status: 200, retryAfterSeconds: null, latencyMs: 1 } as const
const answer = (status: number, retryAfterSeconds: number | null = null): Outcome => ({
  failure: 'status',
  status,
  retryAfterSeconds,
  latencyMs: 1,
})

interface Delivered {
  readonly type: string
  readonly data: { readonly cursor: string; readonly messages: readonly { readonly id: string }[] }
}

/** A service around runners of one webhook, of which one runs at a time. */
function createWorld(options: { readonly credits?: number } = {}) {
  const published: {
    readonly text: string
    readonly trade: string | null
    readonly retracts: string | null
  }[] = []
  const state = {
    left: options.credits ?? 1_000_000,
    charged: 0,
    returned: [] as string[],
    /** Request ids that were charged. */
    requests: new Set<string>(),
    saved: null as HookProgress | null,
    /** What the receiver accepted, and all attempts. */
    received: [] as Delivered[],
    attempts: [] as HookAttempt[],
    /** Answers of the receiver before it accepts. */
    answers: [] as Outcome[],
    now: 1_790_000_000_000,
    pauses: [] as number[],
    isEnabled: true,
    /** Whether this process has the webhook. */
    isHeld: true,
    /** Whether the receiver does not answer. */
    isSilent: false,
    /** Operations until the process dies; it does not by default. */
    operations: Number.POSITIVE_INFINITY,
    faults: 0,
    /** Messages in one delivery. */
    most: 3,
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** An operation of a process that may be dead: then it never ends. */
  const alive = async (life: { isOver: boolean }) => {
    await turn()
    if (!life.isOver && --state.operations < 0) life.isOver = true
    if (life.isOver) await new Promise(() => {})
  }

  function source(life: { isOver: boolean }): HookSource<number> {
    return {
      now: () => published.length,
      encode: String,
      decode: (text) => (text === '' ? null : Number(text)),
      isWithin: (a, b) => a <= b,
      async next({ after, signal }) {
        await alive(life)
        if (signal.aborted) return { messages: [], end: after, hasMore: true }
        const messages = published
          .slice(after, after + state.most)
          .map((one, at): HookMessage<number> => ({ ...one, after: after + at + 1 }))
        if (messages.length === 0) state.now += 1000
        const end = after + messages.length
        return { messages, end, hasMore: end < published.length }
      },
    }
  }

  function start(hook = HOOK) {
    const life = { isOver: false }
    const runner = new HookRunner<number>(
      {
        source: source(life),
        receivers: {
          async post(_url, headers, body, signal) {
            await alive(life)
            if (state.isSilent) {
              while (!signal?.aborted) await turn()
              return { failure: 'no_answer', status: 0, retryAfterSeconds: null, latencyMs: 1 }
            }
            const outcome = state.answers.shift() ?? ACCEPTED
            if (outcome.failure === null) state.received.push(JSON.parse(body) as Delivered)
            if (headers['webhook-id'] === undefined) throw new Error('not signed')
            return outcome
          },
        },
        secrets: { headers: (_signer, delivery) => ({ 'webhook-id': delivery }) },
        credits: {
          async charge(_account, credits, requestId) {
            await alive(life)
            if (state.requests.has(requestId)) return { kind: 'charged', left: state.left }
            if (state.left < credits) return { kind: 'insufficient', left: state.left }
            if (state.faults-- > 0) throw new ServiceError('unavailable', 'the meter is away')
            state.requests.add(requestId)
            state.left -= credits
            state.charged += credits
            return { kind: 'charged', left: state.left }
          },
          giveBackLater: (_account, ids) => void state.returned.push(...ids),
        },
        async save(_id, progress) {
          await alive(life)
          state.saved = progress
        },
        mayServe: () => state.isEnabled,
        requireHeld() {
          if (!state.isHeld) throw new ServiceError('unavailable', 'another process may have it')
        },
        onAttempt: (_hook, attempt) => void state.attempts.push(attempt),
        logger: createLogger('silent'),
        now: () => state.now,
        async pause(ms, signal) {
          state.pauses.push(ms)
          state.now += signal.aborted ? 0 : ms
          await turn()
        },
      },
      hook,
      state.saved,
    )
    const ended = runner.run()
    return {
      runner,
      /** Resolves when the condition holds. */
      async until(condition: () => boolean) {
        while (!condition() && !life.isOver) await turn()
      },
      isOver: () => life.isOver,
      async stop() {
        runner.stop(0)
        await ended
      },
    }
  }

  return {
    state,
    start,
    publish(...ids: string[]) {
      for (const id of ids) {
        const retracts = id.startsWith('-') ? id.slice(1) : null
        const trade = retracts === null ? id : null
        published.push({ text: JSON.stringify({ id, trade_id: id }), trade, retracts })
      }
    },
    /** Takes a message away that no receiver has accepted. */
    withdraw(id: string) {
      published.splice(
        published.findIndex(({ trade }) => trade === id),
        1,
      )
    },
    /** Ids of the messages that the receiver accepted. */
    received: () => state.received.flatMap(({ data }) => data.messages?.map(({ id }) => id) ?? []),
  }
}

test('each trade is delivered once, in order, and charged once; a retraction is free and gives its credit back', async (t) => {
  const world = createWorld()
  world.publish('a', 'b', 'c', 'd', '-b')
  const run = world.start()
  await run.until(() => world.received().length === 5)
  await run.stop()
  t.deepEqual(world.received(), ['a', 'b', 'c', 'd', '-b'])
  t.is(world.state.charged, 4)
  t.deepEqual(world.state.returned, [`b:${HOOK.id}`])
  t.deepEqual(
    world.state.received.map(({ type, data }) => [type, data.cursor]),
    [
      ['trades', '3'],
      ['trades', '5'],
    ],
  )
  t.is(world.state.saved?.after, '5', 'what was delivered is stored at the end')
})

test('a delivery is tried again with longer pauses, the same messages and one charge, until it is accepted', async (t) => {
  const world = createWorld()
  world.state.answers = [answer(500), answer(503, 90), answer(404), answer(500)]
  world.publish('a', 'b')
  const run = world.start()
  await run.until(() => world.received().length === 2)
  await run.stop()
  t.deepEqual(world.state.pauses.slice(0, 4), [1000, 90_000, 4000, 8000])
  t.deepEqual(
    world.state.attempts.map(({ attempt, messages, status }) => [attempt, messages, status]),
    [
      [1, 2, 500],
      [2, 2, 503],
      [3, 2, 404],
      [4, 2, 500],
      [5, 2, 200],
    ],
  )
  t.is(new Set(world.state.attempts.map(({ delivery }) => delivery)).size, 1)
  t.is(world.state.charged, 2)
  t.is(world.state.saved?.failingSince, null)
})

test('after a day of failures, and after 410, it waits until its owner sets it active', async (t) => {
  for (const [answers, state] of [
    [Array.from({ length: 3000 }, () => answer(500)), 'failing'],
    [[answer(410)], 'gone'],
  ] as const) {
    const world = createWorld()
    world.state.answers = [...answers]
    world.publish('a')
    const run = world.start()
    await run.until(() => world.state.saved?.state === state)
    const attempts = world.state.attempts.length
    await run.until(() => world.state.pauses.at(-1) === 30_000)
    t.is(world.state.attempts.length, attempts, 'nothing is delivered meanwhile')
    world.state.answers = []
    run.runner.update({ ...HOOK, activations: 1 })
    await run.until(() => world.received().length === 1)
    await run.stop()
    t.is(world.state.charged, 1, state)
    t.is(world.state.saved?.state, 'active')
  }
})

test('at balance 0 it waits, delivers what can be paid, and goes on with new credits', async (t) => {
  const world = createWorld({ credits: 2 })
  world.publish('a', 'b', 'c', 'd')
  const run = world.start()
  await run.until(() => world.state.saved?.state === 'balance_exhausted')
  t.deepEqual(world.received(), ['a', 'b'])
  world.state.left = 10
  await run.until(() => world.received().length === 4)
  await run.stop()
  t.deepEqual(world.received(), ['a', 'b', 'c', 'd'])
  t.is(world.state.charged, 4)
  t.is(world.state.left, 8)
})

test('a replay is free for what was paid, and costs what is older than a change of the filter', async (t) => {
  const world = createWorld()
  world.publish('a', 'b', 'c', 'd')
  const run = world.start()
  await run.until(() => world.received().length === 4)
  const replayed = { ...HOOK, replays: 2, replayAfter: '1' }
  run.runner.update(replayed)
  world.publish('e')
  await run.until(() => world.received().length === 8)
  t.deepEqual(world.received().slice(4), ['b', 'c', 'd', 'e'])
  t.is(world.state.charged, 5)
  const filtered = { ...replayed, filters: 1, wallets: [1] }
  run.runner.update(filtered)
  await run.until(() => world.state.saved?.filters === 1)
  world.publish('f')
  await run.until(() => world.received().length === 9)
  run.runner.update({ ...filtered, replays: 3, replayAfter: '3' })
  await run.until(() => world.received().length === 12)
  await run.stop()
  t.deepEqual(world.received().slice(9), ['d', 'e', 'f'])
  t.is(world.state.charged, 8, 'd and e are older than the filter, f is paid')
})

test('a delivery that is cut otherwise after a restart charges no trade again, and what does not come any more is given back', async (t) => {
  const world = createWorld()
  world.publish('a', 'b', 'c')
  world.state.answers = [answer(500)]
  world.state.operations = 4 // two saves, the charge, and the attempt that fails
  await world.start().until(() => false)
  t.deepEqual([world.state.charged, world.received()], [3, []])
  world.state.operations = Number.POSITIVE_INFINITY
  world.state.most = 1
  world.withdraw('b')
  const run = world.start()
  await run.until(() => world.received().length === 2)
  world.publish('d')
  await run.until(() => world.received().length === 3)
  await run.stop()
  t.deepEqual(world.received(), ['a', 'c', 'd'])
  t.deepEqual([world.state.charged, world.state.returned], [4, [`b:${HOOK.id}`]])
  t.deepEqual(world.state.saved?.charged, [])
})

test('what was paid for a failed delivery is not given back when its owner turns to another filter or position, and stays paid', async (t) => {
  const world = createWorld()
  world.publish('a', 'b')
  world.state.answers = [answer(500)]
  const run = world.start()
  await run.until(() => world.state.attempts.length === 1)
  const moved = { ...HOOK, replays: 2, replayAfter: '2' }
  run.runner.update(moved)
  world.publish('c')
  await run.until(() => world.received().length === 1)
  run.runner.update({ ...moved, replays: 3, replayAfter: '0' })
  await run.until(() => world.received().length === 4)
  await run.stop()
  t.deepEqual(world.received(), ['c', 'a', 'b', 'c'])
  t.deepEqual([world.state.charged, world.state.returned], [3, []])
})

test('a webhook that is stopped leaves a receiver that does not answer, and does not count that as a failure', async (t) => {
  const world = createWorld()
  world.state.isSilent = true
  world.publish('a')
  const run = world.start()
  await run.until(() => world.state.charged === 1)
  await run.stop()
  t.is(world.state.saved?.failingSince, null)
  t.deepEqual(world.state.saved?.charged, ['a'], 'it is paid, and comes again')
})

test('a test is delivered once, also while the webhook is paused, and nothing else is', async (t) => {
  const world = createWorld()
  world.publish('a')
  const run = world.start({ ...HOOK, isActive: false, tests: 1 })
  await run.until(() => world.state.pauses.length > 2)
  await run.stop()
  t.deepEqual(
    world.state.received.map(({ type }) => type),
    ['test'],
  )
  t.is(world.state.charged, 0)
})

test('of a disabled account nothing is delivered until it is enabled', async (t) => {
  const world = createWorld()
  world.state.isEnabled = false
  world.publish('a')
  const run = world.start()
  await run.until(() => world.state.pauses.length > 2)
  t.is(world.state.saved?.state, 'disabled')
  t.deepEqual(world.received(), [])
  world.state.isEnabled = true
  await run.until(() => world.received().length === 1)
  await run.stop()
  t.is(world.state.saved?.state, 'active')
})

test('a webhook that is changed while another process may have it waits before it looks again', async (t) => {
  const world = createWorld()
  world.state.isHeld = false
  const startedAt = world.state.now
  const run = world.start()
  run.runner.update(HOOK)
  await run.until(() => world.state.pauses.length > 3)
  t.true(world.state.now > startedAt, 'it tries without a pause')
  world.state.isHeld = true
  world.publish('a')
  await run.until(() => world.received().length === 1)
  await run.stop()
})

test('the meter is away for a while: nothing is lost, and nothing is charged twice', async (t) => {
  const world = createWorld()
  world.state.faults = 3
  world.publish('a', 'b')
  const run = world.start()
  await run.until(() => world.received().length === 2)
  await run.stop()
  t.deepEqual(world.received(), ['a', 'b'])
  t.is(world.state.charged, 2)
})

/** Messages in one delivery, at most; one process may cut them otherwise than another. */
const MOST = 4
const aStep = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 7 }) }),
  fc.record({
    kind: fc.constant('crash' as const),
    operations: fc.nat(12),
    most: fc.integer({ min: 1, max: MOST }),
  }),
  fc.record({ kind: fc.constant('fail' as const), count: fc.integer({ min: 1, max: 4 }) }),
)

test('whenever its process dies, each trade arrives, in order apart from repetitions, and none is charged twice', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 12 }), async (steps) => {
      const world = createWorld()
      let [count, crashes] = [0, 0]
      let run = world.start()
      for (const step of steps) {
        if (step.kind === 'publish') {
          const ids = Array.from({ length: step.count }, () => `t${count++}`)
          world.publish(...ids)
        } else if (step.kind === 'fail')
          world.state.answers = Array.from({ length: step.count }, () => answer(500))
        else {
          world.state.operations = step.operations
          await run.until(() => false)
          crashes++
          world.state.operations = Number.POSITIVE_INFINITY
          world.state.most = step.most
          run = world.start()
        }
      }
      const all = Array.from({ length: count }, (_, at) => `t${at}`)
      await run.until(() => new Set(world.received()).size === count)
      await run.stop()
      t.deepEqual([...new Set(world.received())], all)
      // Whatever was received before comes again only after a crash.
      if (crashes === 0) t.deepEqual(world.received(), all)
      const { charged } = world.state
      t.true(charged <= count && charged >= count - 2 * MOST * crashes, `${charged} of ${count}`)
    }),
    { numRuns: 100 },
  )
})
