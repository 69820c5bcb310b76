import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { createWallets } from '../../domain/wallets.ts'
import { createLogger } from '../../runtime/logger.ts'
import { openAmong, type StreamServers } from './endpoints.ts'
import { confirmedBlocksRequest, finalizedRequest, subscribeRequest } from './subscribe-request.ts'
import type { OpenUpdateStream, StreamEnd, UpdateStreamOptions } from './yellowstone.ts'

const LIMITS = { stallMs: 50, lagSlots: 3, lagMs: 20 }
const SERVERS: StreamServers = [
  { endpoint: 'http://a', xToken: 'token a' },
  { endpoint: 'http://b', xToken: null },
]
const request = subscribeRequest({ wallets: createWallets([]), accounts: [], fromSlot: 5 })
// The generated type of a partial message does not accept literals.
const meta = (slot: number) =>
  SubscribeUpdate.encode(
    SubscribeUpdate.fromPartial({
      blockMeta: { slot: `${slot}`, parentSlot: `${slot - 1}`, blockhash: `${slot}` },
    } as never),
  ).finish()

/** Fake servers. `opens` says how each answers; by default they accept. */
function fakeServers(opens: Readonly<Record<string, () => Promise<StreamEnd | null>>> = {}) {
  const streams: UpdateStreamOptions[] = []
  const closed: string[] = []
  const open: OpenUpdateStream = async (options) => {
    const end = await (opens[options.endpoint]?.() ?? null)
    if (end !== null) return end
    streams.push(options)
    return { send: () => {}, close: () => void closed.push(options.endpoint) }
  }
  return { streams, closed, open }
}

/** A follower's stream; `ended` resolves with its end. */
function follow(open: OpenUpdateStream) {
  const updates: Uint8Array[] = []
  let end: (end: StreamEnd) => void = () => {}
  const ended = new Promise<StreamEnd>((resolve) => {
    end = resolve
  })
  const opened = open({
    endpoint: 'ignored',
    xToken: null,
    request,
    onUpdate: (bytes) => updates.push(bytes),
    onEnd: end,
  })
  return { updates, ended, opened }
}

const among = (open: OpenUpdateStream) =>
  openAmong(SERVERS, { open, logger: createLogger('silent') }, LIMITS)

test('with one server nothing is followed besides', (t) => {
  const { open } = fakeServers()
  t.is(openAmong([SERVERS[0]], { open, logger: createLogger('silent') }), open)
})

test('a server that cannot be reached, refuses its token or does not answer is left at once', async (t) => {
  const answers = {
    failed: async () => ({ kind: 'failed', message: 'no' }) as const,
    refused: async () => ({ kind: 'refused' }) as const,
    silence: () => new Promise<null>(() => {}),
  }
  for (const answer of Object.values(answers)) {
    const { open, streams } = fakeServers({ 'http://a': answer })
    const { opened } = follow(among(open))
    const stream = await opened
    t.false('kind' in stream)
    t.deepEqual(
      streams.filter((one) => one.request === request).map(({ endpoint }) => endpoint),
      ['http://b'],
    )
    if ('close' in stream) stream.close()
  }
  const { open } = fakeServers({ 'http://a': answers.failed, 'http://b': answers.refused })
  t.deepEqual(await follow(among(open)).opened, { kind: 'refused' })
})

test('a server that stalls while another one goes on is left, and the next stream is of the other', async (t) => {
  const { open, streams, closed } = fakeServers()
  const openNext = among(open)
  const first = follow(openNext)
  await first.opened
  const [own, witness] = streams
  t.deepEqual(
    [own, witness].map((one) => [one?.endpoint, one?.xToken, one?.request]),
    [
      ['http://a', 'token a', request],
      ['http://b', null, confirmedBlocksRequest()],
    ],
  )
  own?.onUpdate(meta(5))
  witness?.onUpdate(meta(5))
  witness?.onUpdate(meta(6))
  t.deepEqual(await first.ended, { kind: 'failed', message: 'stalled' })
  own?.onUpdate(meta(6))
  t.deepEqual(first.updates, [meta(5)])
  t.deepEqual(closed.sort(), ['http://a', 'http://b'])
  const second = await follow(openNext).opened
  t.is(streams.filter((one) => one.request === request).at(-1)?.endpoint, 'http://b')
  if ('close' in second) second.close()
})

test('other streams come from the servers in turn', async (t) => {
  const { open, streams } = fakeServers()
  const openNext = among(open)
  for (let count = 0; count < 3; count++)
    await openNext({
      endpoint: 'ignored',
      xToken: null,
      request: finalizedRequest(null),
      onUpdate: () => {},
      onEnd: () => {},
    })
  t.deepEqual(
    streams.map(({ endpoint }) => endpoint),
    ['http://a', 'http://b', 'http://a'],
  )
})
