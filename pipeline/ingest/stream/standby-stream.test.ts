import { type SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { createWallets } from '../../domain/wallets.ts'
import { createLogger } from '../../runtime/logger.ts'
import { DEFAULT_FOLLOW_LIMITS } from '../follow-limits.ts'
import { readEnvelope } from '../wire/update-envelope.ts'
import { StandbyStream } from './standby-stream.ts'
import { finalizedRequest, subscribeRequest } from './subscribe-request.ts'
import type { Selection } from './wallet-selection.ts'
import type { StreamEnd, UpdateStreamOptions } from './yellowstone.ts'

// The generated type of a partial message does not accept literals.
const encode = (update: object) =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
const meta = (slot: number) =>
  encode({
    blockMeta: { slot: `${slot}`, parentSlot: `${slot - 1}`, blockTime: { timestamp: '1' } },
  })
/** A transaction that names nobody. */
const transaction = (slot: number) =>
  encode({
    transaction: { slot: `${slot}`, transaction: { signature: new Uint8Array(64), index: '0' } },
  })
const confirmed = (slot: number) => encode({ slot: { slot: `${slot}`, status: 1 } })
const requestOf = (fromSlot: number | null) =>
  subscribeRequest({ wallets: createWallets([]), accounts: [], fromSlot })

/** A server that opens streams, each when the standby asks for it. */
class FakeServer {
  readonly opened: UpdateStreamOptions[] = []
  readonly sent: SubscribeRequest[] = []
  closed = 0
  readonly open = async (options: UpdateStreamOptions) => {
    this.opened.push(options)
    return {
      send: (request: SubscribeRequest) => void this.sent.push(request),
      close: () => void this.closed++,
    }
  }

  /** Sends whole slots on the newest stream. */
  slots(...slots: readonly number[]): void {
    for (const slot of slots)
      for (const bytes of [meta(slot), confirmed(slot)]) this.opened.at(-1)?.onUpdate(bytes)
  }
}

async function standbyOf(server: FakeServer, limits = {}, selection: Selection | null = null) {
  const received: number[] = []
  const stream = new StandbyStream({
    endpoint: 'http://server',
    xToken: null,
    request: requestOf,
    wallets: () => createWallets([]),
    selection,
    open: server.open,
    limits: { ...DEFAULT_FOLLOW_LIMITS, backoffMs: 1, ...limits },
    logger: createLogger('silent'),
    onReceived: (slot) => received.push(slot),
  })
  await turn()
  return { stream, received }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A follower of a chain, as far as its stream is concerned. */
async function follow(stream: StandbyStream, fromSlot: number | null) {
  const slots: string[] = []
  const ends: StreamEnd[] = []
  const opened = await stream.handOver({
    endpoint: 'http://server',
    xToken: null,
    request: requestOf(fromSlot),
    onUpdate(bytes) {
      const envelope = readEnvelope(bytes)
      if (envelope && 'slot' in envelope) slots.push(`${envelope.kind} ${envelope.slot}`)
    },
    onEnd: (end) => ends.push(end),
  })
  if ('kind' in opened) throw new Error(opened.kind)
  return { slots, ends, opened }
}

test('a follower gets the kept updates from its slot on, then the live ones, over the open stream', async (t) => {
  const server = new FakeServer()
  const { stream, received } = await standbyOf(server)
  server.slots(1, 2, 3, 4) // the first one may be incomplete
  t.deepEqual(received, [2, 3, 4])
  stream.trim(2)
  const { slots, ends, opened } = await follow(stream, 4)
  server.slots(5)
  t.deepEqual(slots, ['meta 4', 'slot 4', 'meta 5', 'slot 5'])
  t.is(server.opened.length, 1)
  t.deepEqual(server.sent, [requestOf(null)])
  server.opened[0]?.onEnd({ kind: 'failed', message: 'gone' })
  await turn()
  t.deepEqual(ends, [{ kind: 'failed', message: 'gone' }])
  opened.close()
})

test('a standby keeps no transactions of others; a follower judges by itself (rule K24)', async (t) => {
  const server = new FakeServer()
  const { stream } = await standbyOf(server, {}, 'whole')
  server.slots(1)
  server.opened[0]?.onUpdate(transaction(2))
  server.slots(2)
  const { slots, opened } = await follow(stream, 2)
  t.deepEqual(slots, ['meta 2', 'slot 2'])
  // It may be of a wallet that has joined since.
  server.opened[0]?.onUpdate(transaction(3))
  t.deepEqual(slots, ['meta 2', 'slot 2', 'transaction 3'])
  opened.close()
})

test('a follower that needs a slot which was not kept, or trimmed, gets a stream of its own', async (t) => {
  for (const fromSlot of [1, 2]) {
    const server = new FakeServer()
    const { stream } = await standbyOf(server)
    server.slots(1, 2, 3)
    if (fromSlot === 2) stream.trim(2)
    const { slots } = await follow(stream, fromSlot)
    t.deepEqual(slots, [])
    t.deepEqual(server.opened[1]?.request, requestOf(fromSlot))
    t.is(server.closed, 1)
  }
})

test('the stream of finalized blocks is another one', async (t) => {
  const server = new FakeServer()
  const { stream } = await standbyOf(server)
  server.slots(1, 2)
  const request = finalizedRequest(null)
  await stream.handOver({ ...(server.opened[0] as UpdateStreamOptions), request })
  t.is(server.opened.length, 2)
  t.deepEqual((await follow(stream, 2)).slots, ['meta 2', 'slot 2'])
})

test('after a cut the server replays what was kept; what it lost is not handed over', async (t) => {
  const server = new FakeServer()
  const { stream } = await standbyOf(server)
  server.slots(1, 2, 3)
  stream.trim(2)
  server.opened[0]?.onEnd({ kind: 'failed', message: 'cut' })
  while (server.opened.length < 2) await turn()
  t.deepEqual(server.opened[1]?.request, requestOf(3))
  await turn()
  server.slots(3, 4)
  server.opened[1]?.onEnd({ kind: 'out_of_range', oldest: 9 })
  while (server.opened.length < 3) await turn()
  t.deepEqual(server.opened[2]?.request, requestOf(null))
  await turn()
  server.slots(9, 10)
  t.deepEqual((await follow(stream, 10)).slots, ['meta 10', 'slot 10'])
})

test('without a leader for long, memory stays bounded', async (t) => {
  const server = new FakeServer()
  const { stream } = await standbyOf(server, { maxPendingBytes: 200 })
  while (server.opened.length < 2) {
    server.slots(1, 2, 3, 4, 5, 6, 7, 8, 9)
    await turn()
  }
  t.deepEqual(server.opened[1]?.request, requestOf(null))
  await stream.close()
})
