import test from 'ava'
import fc from 'fast-check'
import { pino } from 'pino'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import type { BlockRenewal } from '../credits/meter.ts'
import { createCursorCodec } from '../cursor.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap } from '../testing/a-swap.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { handLog } from '../testing/hand-log.ts'
import { leftOf } from '../testing/left-of.ts'
import { blocksOf, fund } from '../testing/start-feed.ts'
import { CreditBlock } from './credit-block.ts'
import type { ServerMessage, TradeMessage } from './messages.ts'
import type { EndReason } from './protocol-handler.ts'
import { createRelay } from './relay.ts'
import { createFeedMetrics } from './telemetry.ts'
import { createTradeBatch } from './trade-batch.ts'
import { TradeConnection } from './trade-connection.ts'

/**
 * `down`: the call fails without effect. `lost`: the call takes effect, but its response is lost.
 */
type Answer = 'granted' | 'down' | 'lost'

type Step =
  | { readonly kind: 'slot'; readonly trades: number }
  | { readonly kind: 'late'; readonly slotsAgo: number }
  | { readonly kind: 'meter'; readonly answer: Answer }
  | { readonly kind: 'reconnect' }
  /** A REST call of the same account. */
  | { readonly kind: 'call'; readonly price: number }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('slot' as const), trades: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('late' as const), slotsAgo: fc.nat(2) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('meter' as const),
      answer: fc.constantFrom<Answer>('granted', 'granted', 'granted', 'down', 'lost'),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'reconnect' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('call' as const), price: fc.nat(30) }) },
)

/**
 * A client that reconnects whenever it is disconnected. The test controls when the meter responds.
 */
async function startClient(balance: number) {
  const log = handLog()
  const cursors = createCursorCodec(cursorKeys(1))
  const relay = await createRelay({
    log,
    cursors,
    logger: pino({ level: 'silent' }),
    render: (swap) => JSON.stringify(tradeItem(serveSwap(swap, null))),
    history: {
      marker: async () => null,
      cameBefore: async () => new Set<string>(),
    },
    metrics: createFeedMetrics(createRegistry()),
  })
  const meter = createMemoryMeter()
  await fund(meter, 'alice', balance)
  const blocks = blocksOf(meter)
  const asked: ((answer: Answer) => void)[] = []
  const source = {
    async renewBlock(account: string, renewal: BlockRenewal) {
      const answer = await new Promise<Answer>((resolve) => asked.push(resolve))
      if (answer === 'down') throw new ServiceError('unavailable', 'down', { retriable: true })
      const grant = await blocks.renewBlock(account, renewal)
      if (answer === 'lost') throw new ServiceError('unavailable', 'lost', { retriable: true })
      return grant
    },
  }
  const received: (TradeMessage & { connection: number })[] = []
  let ended: EndReason | null = null
  let start: string | undefined
  let count = 0
  let connection: TradeConnection
  const unlisten = relay.listen({
    onEntries: (entries) => connection.deliver(createTradeBatch(entries)),
    onOldWithdrawal: (before) => connection.catchUpFrom(before),
  })

  /** Runs all pending microtasks and immediates. */
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const answer = async (how: Answer) => {
    await settle()
    asked.shift()?.(how)
    await settle()
  }
  const finish = async (work: Promise<void>) => {
    let isDone = false
    void work.then(() => {
      isDone = true
    })
    while (!isDone) await answer('granted')
  }
  const connect = async () => {
    const left = (await leftOf(meter, 'alice')) ?? 0
    const name = `connection ${++count}`
    ended = null
    connection = new TradeConnection(
      {
        account: 'alice',
        key: { account: 'alice', kind: 'own' },
        onRetracted() {},
        limit: { perMinute: 0, now: () => 0 },
        transport: {
          write: (frames, sent) => {
            for (const read of messagesOf(frames)) {
              if ('channel' in read) {
                if (read.channel === 'trades') received.push({ ...read, connection: count })
              } else if (read.type === 'subscribed') start ??= read.cursor
            }
            if (sent) setImmediate(sent)
          },
          cork() {},
          uncork() {},
          ping() {},
          close() {},
          terminate() {},
          isOpen: true,
          unsentBytes: 0,
        },
        relay,
        history: { hasMore: () => false, page: async () => null },
        isTracked: () => true,
        creditBlock: (hooks) =>
          new CreditBlock(
            { source, account: 'alice', connection: name, left, hooks },
            { now: () => 0, pause: async () => {} },
          ),
        onSent: () => {},
        onEnd: (reason) => {
          ended = reason
        },
      },
      left,
    )
    const after = received.at(-1)?.id ?? start
    const subscribe = { action: 'subscribe', channels: ['trades'], ...(after && { after }) }
    connection.receive(JSON.stringify(subscribe), 100)
  }
  await connect()
  return {
    log,
    cursors,
    meter,
    received,
    answer,
    ended: () => ended,
    async reconnect() {
      await finish(connection.onSocketClosed())
      await connect()
    },
    /** From now on the meter responds immediately. Resolves when no work is pending. */
    async calm() {
      await settle()
      while (asked.length > 0) await answer('granted')
    },
    async close() {
      unlisten()
      await finish(connection.onSocketClosed())
    },
  }
}

/** Parses the messages in the frames of one write. */
function messagesOf(frames: Buffer): ServerMessage[] {
  const messages: ServerMessage[] = []
  for (let at = 0; at < frames.length; ) {
    const short = frames[at + 1] ?? 0
    const [header, length] = short < 126 ? [2, short] : [4, frames.readUInt16BE(at + 2)]
    messages.push(JSON.parse(frames.toString('utf8', at + header, at + header + length)))
    at += header + length
  }
  return messages
}

test('a client gets each trade once, in order, and pays for it, over failures of the meter and reconnects', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aStep, { maxLength: 40 }),
      fc.oneof(fc.nat(60), fc.constant(10_000)),
      async (steps, balance) => {
        const client = await startClient(balance)
        const ordered: Swap[] = []
        const late: Swap[] = []
        const calls: number[] = []
        let slot = 0
        for (const step of steps) {
          if (step.kind === 'slot') {
            slot++
            const swaps = Array.from({ length: step.trades }, (_, txIndex) =>
              aSwap({ slot, txIndex, blockTime: ordered.length + txIndex }),
            )
            ordered.push(...swaps)
            await client.log.hand([
              ...swaps.map((record) => ({ kind: 'record' as const, record, late: null })),
              { kind: 'marker', marker: aMarker(slot) },
            ])
          } else if (step.kind === 'late' && slot > 0) {
            const of = Math.max(1, slot - step.slotsAgo)
            const fields = { txIndex: 100 + late.length, blockTime: 1_000_000 + late.length }
            const record = aSwap({ slot: of, ...fields })
            late.push(record)
            await client.log.hand([{ kind: 'record', record, late: 'stream' }])
          } else if (step.kind === 'meter') await client.answer(step.answer)
          else if (step.kind === 'reconnect') await client.reconnect()
          else if (step.kind === 'call') {
            const { kind } = await client.meter.charge('alice', step.price, `call ${calls.length}`)
            calls.push(kind === 'charged' ? step.price : 0)
          }
          t.true(((await leftOf(client.meter, 'alice')) ?? 0) >= 0, 'more was used than there was')
        }
        await client.calm()
        const isExhausted = client.ended() === 'balance_exhausted'
        await client.close()

        const paid = balance - calls.reduce((sum, price) => sum + price, 0)
        const got = client.received.map(({ data }) => data.block_time)
        const reconnects = steps.filter(({ kind }) => kind === 'reconnect').length
        // The block time identifies a trade: below a million if it came in order, above if it was
        // late.
        const inOrder = got.filter((time) => time < 1_000_000)
        t.deepEqual(
          inOrder,
          ordered.slice(0, inOrder.length).map(({ blockTime }) => blockTime),
        )
        const gotLate = got.filter((time) => time >= 1_000_000)
        t.is(new Set(gotLate).size, gotLate.length)
        const everything = [...ordered, ...late].sort(compareEventKeys)
        for (let connection = 1; connection <= reconnects + 1; connection++) {
          const unmarked = client.received.flatMap((trade) =>
            trade.late || trade.connection !== connection ? [] : [trade.data.block_time],
          )
          const times = new Set(unmarked)
          t.deepEqual(
            unmarked,
            everything.filter((swap) => times.has(swap.blockTime)).map((swap) => swap.blockTime),
          )
        }
        t.is(got.length, isExhausted ? paid : everything.length)
        t.is(await leftOf(client.meter, 'alice'), paid - got.length)
      },
    ),
    { numRuns: 200 },
  )
})

test('a late trade is sent before trades that wait for credits, with the position of the client as its id', async (t) => {
  const client = await startClient(100)
  const hand = (...swaps: Swap[]) =>
    client.log.hand([
      ...swaps.map((record) => ({ kind: 'record' as const, record, late: null })),
      { kind: 'marker', marker: aMarker(swaps[0]!.slot) },
    ])
  await client.answer('granted')
  await hand(aSwap({ slot: 1 }))
  await client.calm()
  await hand(...Array.from({ length: 40 }, (_, txIndex) => aSwap({ slot: 2, txIndex })))
  const late = aSwap({ slot: 1, txIndex: 9, blockTime: 7 })
  await client.log.hand([{ kind: 'record', record: late, late: 'stream' }])
  await hand(aSwap({ slot: 3 }))
  const waited = client.received.length
  t.true(waited < 41)
  const decode = (id: string) => client.cursors.decode('trades', id)
  await client.calm()
  t.is(client.received.length, 43)
  t.deepEqual(
    client.received.flatMap((trade, place) =>
      trade.late ? [place, trade.data.block_time, decode(trade.id)] : [],
    ),
    [waited, 7, decode(client.received[waited - 1]!.id)],
  )
  await client.close()
})
