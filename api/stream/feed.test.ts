import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect as connectTcp } from 'node:net'
import test from 'ava'
import { WebSocket } from 'ws'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { createPerturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
import { USDC } from '../../pipeline/domain/quote.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { withValue } from '../../pipeline/domain/swap-value.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import {
  BEGINNING,
  createCursorCodec,
  endOfSlot,
  type LatePosition,
  lateBefore,
} from '../cursor.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { handLog } from '../testing/hand-log.ts'
import { leftOf } from '../testing/left-of.ts'
import { fund, startFeed } from '../testing/start-feed.ts'

type Started = Awaited<ReturnType<typeof startFeed>>

const at = (slot: number, txIndex = 0, wallet = 1) => aSwap({ slot, txIndex, wallet })
const slotOf = (slot: number, ...records: Swap[]) => after(slot - 1, slot, ...records)
const after = (parent: number, slot: number, ...records: Swap[]) => ({
  marker: aMarker(slot, parent),
  records: records.sort(compareEventKeys),
})
const many = (slot: number, count: number) =>
  Array.from({ length: count }, (_, txIndex) => at(slot, txIndex, 1 + (txIndex % 7)))
const message =
  ({ cursors }: Started) =>
  (swap: Swap) => ({
    channel: 'trades',
    id: cursors.encode('trades', swap, lateBefore(0, swap.slot)),
    trade_id: cursors.tradeId(swap, null),
    data: tradeItem(served(swap)),
  })
const subscribed = ({ cursors }: Started, slot: number | null, filter: object = {}) => ({
  type: 'subscribed',
  channels: ['trades'],
  wallets: null,
  mints: null,
  ...filter,
  cursor: cursors.encode(
    'trades',
    slot === null ? BEGINNING : endOfSlot(slot),
    lateBefore(0, slot ?? 0),
  ),
})

test('a subscription ignores fields that do not exist, and its answer names them (rule F2)', async (t) => {
  const service = await startFeed()
  t.teardown(() => service.close())
  await fund(service.meter, 'alice', 10)
  const client = await service.connect('alice')
  await service.log.appendSlot(slotOf(9))
  const ten = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`x${at}`, at]))
  t.deepEqual(
    await client.subscribe({ wallet: 'W1', 'a b': 1, ['x'.repeat(41)]: 1, mint: null }),
    subscribed(service, 9, { unknown: ['mint', 'wallet'] }),
  )
  t.deepEqual(
    await client.subscribe({ wallet: 'W1', ...ten }),
    subscribed(service, 9, { unknown: ['wallet', ...Object.keys(ten)].slice(0, 10) }),
  )
})

test('a subscriber gets each trade once, in order, and pays one credit for each (rules F2, F3, F5)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  const client = await service.connect('alice')
  await service.log.appendSlot(slotOf(9, at(9)))
  t.deepEqual(await client.fence(), [], 'nothing is sent before a subscription')
  t.deepEqual(await client.subscribe(), subscribed(service, 9))
  t.is(service.feed.connections(), 1)
  const swaps = [...many(10, 30), ...many(11, 50)]
  await service.log.appendSlot(slotOf(10, ...swaps.slice(0, 30)))
  await service.log.appendSlot(slotOf(10, ...swaps.slice(0, 30)))
  await service.log.appendSlot(slotOf(11, ...swaps.slice(30)))
  t.deepEqual(await client.take(80), swaps.map(message(service)))
  t.deepEqual(service.feed.sent(), { slot: 11, blockTime: aMarker(11).blockTime })

  await service.log.appendLate([at(10, 200)], 'stream')
  await service.log.appendLate([at(10, 201)], 'backfill')
  const [late] = (await client.take(1)) as { id: string }[]
  t.deepEqual(late, { ...message(service)(at(10, 200)), late: true, id: late?.id })
  t.deepEqual(service.cursors.decode('trades', late?.id ?? ''), endOfSlot(11))

  client.send({ action: 'unsubscribe', channels: ['trades'] })
  t.deepEqual(await client.take(1), [{ type: 'unsubscribed', channels: ['trades'] }])
  await service.log.appendSlot(slotOf(12, at(12)))
  t.deepEqual(await client.fence(), [])
  await client.close()
  await service.close()
  t.is(await leftOf(service.meter, 'alice'), 1000 - 81)
  t.is(service.feed.connections(), 0)
})

test('a trade outside the filter is neither sent nor charged; a repeated subscribe replaces the filter', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  const filter = { wallets: ['W2', 'W3', 'W2'], mints: [BONK] }
  t.deepEqual(
    await client.subscribe(filter),
    subscribed(service, null, { wallets: ['W2', 'W3'], mints: [BONK] }),
  )
  const swaps = [
    aSwap({ slot: 1, wallet: 1 }),
    aSwap({ slot: 1, wallet: 2 }),
    aSwap({ slot: 1, wallet: 3, baseMint: JUP }),
    aSwap({ slot: 1, wallet: 3, txIndex: 5, quoteMint: USDC }),
  ]
  await service.log.appendSlot(slotOf(1, ...swaps))
  t.deepEqual(await client.take(2), [swaps[1]!, swaps[3]!].map(message(service)))
  await client.subscribe({ mints: [JUP] })
  await service.log.appendSlot(slotOf(2, at(2), aSwap({ slot: 2, wallet: 2, baseMint: JUP })))
  t.deepEqual(await client.take(1), [
    message(service)(aSwap({ slot: 2, wallet: 2, baseMint: JUP })),
  ])
  t.deepEqual(await client.fence(), [])
  await service.close()
  t.is(await leftOf(service.meter, 'alice'), 97)
})

test('a withdrawn trade is retracted for each client whose filter it matches, free, and the credit goes back (rule K9)', async (t) => {
  const givenBack: [string, string][] = []
  const service = await startFeed({
    connectionsPerKey: 2,
    giveBackLater: (account, ids) => {
      for (const id of ids) givenBack.push([account, id])
    },
  })
  await fund(service.meter, 'alice', 100)
  await fund(service.meter, 'bob', 100)
  const all = await service.connect('alice')
  await all.subscribe()
  const filtered = await service.connect('bob')
  await filtered.subscribe({ wallets: ['W2'] })
  const [first, second] = [at(1, 0, 1), at(1, 1, 2)]
  await service.log.appendSlot(slotOf(1, first, second))
  await service.log.appendSlot(slotOf(2, at(2, 0, 3)))
  const sent = (await all.take(3)) as { id: string }[]
  t.deepEqual(await filtered.take(1), [message(service)(second)])

  const withdrawal = { slot: 1, blockId: null, solPrice: null, rewind: null }
  await service.log.appendWithdrawal(withdrawal)
  await service.log.appendLate([second], 'stream', 9n)
  const idOf = (swap: Swap, blockId: bigint | null = null) => service.cursors.tradeId(swap, blockId)
  const retracted = (swap: Swap) => ({
    type: 'retracted',
    trade_id: idOf(swap),
    data: tradeItem(served(swap)),
  })
  const late = {
    channel: 'trades',
    trade_id: idOf(second, 9n),
    late: true,
    data: tradeItem(served(second)),
  }
  const withoutId = (messages: unknown[]) =>
    (messages as { id: string }[]).map(({ id: _, ...rest }) => rest)
  t.deepEqual(withoutId(await all.take(3)), [retracted(first), retracted(second), late])
  t.deepEqual(withoutId(await filtered.take(2)), [retracted(second), late])
  t.deepEqual(givenBack, [
    ['alice', idOf(first)],
    ['alice', idOf(second)],
    ['bob', idOf(second)],
  ])

  // Away between the two trades, a client gets the retraction of the one that it was sent.
  const back = await service.connect('alice')
  await back.subscribe({ after: sent[0]?.id })
  t.deepEqual(withoutId(await back.take(3)), [
    retracted(first),
    ...withoutId([message(service)(second)]).map((trade) => ({
      ...trade,
      trade_id: idOf(second, 9n),
    })),
    ...withoutId([message(service)(at(2, 0, 3))]),
  ])
  // From the beginning there is nothing to retract.
  const { cursors } = service
  await back.subscribe({ after: cursors.encode('trades', BEGINNING, lateBefore(0, 0)) })
  t.deepEqual(
    (await back.take(2)).map((one) => (one as { trade_id: string }).trade_id),
    [idOf(second, 9n), idOf(at(2, 0, 3))],
  )
  t.deepEqual(await back.fence(), [])
  await service.close()
  t.is(await leftOf(service.meter, 'bob'), 98)
})

test('a client that comes from a process ahead of this one gets nothing from memory until this one has read the same withdrawals and late trades (rule K9)', async (t) => {
  const log = handLog()
  const service = await startFeed({ log })
  await fund(service.meter, 'alice', 100)
  const [first, withdrawn, late, last] = [at(1), at(1, 1), at(1, 2), at(4)]
  await log.hand([
    { kind: 'record', record: first, late: null },
    { kind: 'record', record: withdrawn, late: null },
    { kind: 'marker', marker: aMarker(1) },
    { kind: 'marker', marker: aMarker(2) },
  ])
  const client = await service.connect('alice')
  // The other process has read slot 1 after the withdrawal and the late trade, both of slot 2.
  const other: LatePosition = { epoch: 0, passedSlot: 2, offsets: [[0, 5]] }
  await client.subscribe({ after: service.cursors.encode('trades', first, other) })
  t.deepEqual(await client.fence(), [])
  const withdrawal = { slot: 1, blockId: null, solPrice: null, rewind: null }
  await log.hand([{ kind: 'withdrawal', withdrawal }])
  t.deepEqual(await client.fence(), [], 'the relay has read one of the two')
  await log.hand([
    { kind: 'record', record: late, late: 'stream' },
    { kind: 'marker', marker: aMarker(3) },
    { kind: 'record', record: last, late: null },
    { kind: 'marker', marker: aMarker(4) },
  ])
  const sent = (await client.take(2)) as { trade_id: string; late?: true }[]
  t.deepEqual(
    sent.map((trade) => [trade.trade_id, trade.late]),
    [late, last].map((swap) => [service.cursors.tradeId(swap, null), undefined]),
  )
  t.deepEqual(await client.fence(), [])
  await service.close()
})

test('a bad message gets an error with its code and the connection stays; three in a row close it (rule F2)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  const subscribe = { action: 'subscribe', channels: ['trades'] }
  const ofRemovedKey = createCursorCodec(cursorKeys(9))
  const cases: [unknown, string][] = [
    ['', 'invalid_message'],
    ['{', 'invalid_message'],
    ['[]', 'invalid_message'],
    ['null', 'invalid_message'],
    ['"ping"', 'invalid_message'],
    [{}, 'invalid_message'],
    [{ action: 'Ping' }, 'invalid_message'],
    [{ action: ['ping'] }, 'invalid_message'],
    [{ action: 'subscribe' }, 'invalid_channel'],
    [{ action: 'unsubscribe' }, 'invalid_channel'],
    [{ ...subscribe, channels: [] }, 'invalid_channel'],
    [{ ...subscribe, channels: 'trades' }, 'invalid_channel'],
    [{ ...subscribe, channels: ['trade'] }, 'invalid_channel'],
    [{ ...subscribe, channels: [null] }, 'invalid_channel'],
    [{ ...subscribe, channels: Array(9).fill('trades') }, 'invalid_channel'],
    [{ ...subscribe, channels: ['trades', 'signals'] }, 'pro_required'],
    [{ action: 'unsubscribe', channels: ['watchlist'] }, 'pro_required'],
    [{ ...subscribe, wallets: [] }, 'invalid_parameter'],
    [{ ...subscribe, wallets: null }, 'invalid_parameter'],
    [{ ...subscribe, wallets: 'W1' }, 'invalid_parameter'],
    [{ ...subscribe, wallets: [1] }, 'invalid_parameter'],
    [{ ...subscribe, wallets: Array(101).fill('W1') }, 'invalid_parameter'],
    [{ ...subscribe, mints: [] }, 'invalid_parameter'],
    [{ ...subscribe, mints: ['So1'] }, 'invalid_parameter'],
    [{ ...subscribe, mints: [`${BONK}1`] }, 'invalid_parameter'],
    [{ ...subscribe, mints: {} }, 'invalid_parameter'],
    [{ ...subscribe, wallets: ['w1'] }, 'wallet_not_found'],
    [{ ...subscribe, wallets: ['W0'] }, 'wallet_not_found'],
    [{ ...subscribe, wallets: ['W1', 'W101'] }, 'wallet_not_found'],
    [{ ...subscribe, wallets: [BONK] }, 'wallet_not_found'],
    [{ ...subscribe, after: '' }, 'invalid_cursor'],
    [{ ...subscribe, after: null }, 'invalid_cursor'],
    [{ ...subscribe, after: 5 }, 'invalid_cursor'],
    [{ ...subscribe, after: 'A'.repeat(50) }, 'invalid_cursor'],
    [{ ...subscribe, after: ofRemovedKey.encode('trades', at(1)) }, 'invalid_cursor'],
    [{ ...subscribe, after: service.cursors.encode(`swaps:${BONK}`, at(1)) }, 'invalid_cursor'],
  ]
  for (const [sent, code] of cases) {
    client.send(sent)
    const [answer] = (await client.take(1)) as { type: string; code: string; message: string }[]
    t.deepEqual(
      [answer?.type, answer?.code, typeof answer?.message],
      ['error', code, 'string'],
      JSON.stringify(sent),
    )
    client.send({ action: 'ping', more: 'is ignored' })
    t.deepEqual(await client.take(1), [{ type: 'pong' }])
  }
  client.socket.send(Buffer.from('{"action":"ping"}'), { binary: true })
  client.send('no')
  client.send({ action: 'fly' })
  const codes = (await client.take(4)).map((answer) => (answer as { code: string }).code)
  t.deepEqual(codes, ['invalid_message', 'invalid_message', 'invalid_message'])
  t.is(await client.closed, 1008)
  await service.close()
})

test('a refused filter names the alias that it does not know, and shows nothing else of it', async (t) => {
  const service = await startFeed()
  const client = await service.connect('alice')
  const refusal = async (...wallets: readonly string[]) => {
    client.send({ action: 'subscribe', channels: ['trades'], wallets })
    const [answer] = (await client.take(1)) as { message: string }[]
    client.send({ action: 'ping' })
    await client.take(1)
    return answer?.message
  }
  t.is(await refusal('W1', 'W101'), 'wallets: no tracked wallet has the alias W101.')
  t.is(await refusal(BONK), 'wallets: expected aliases, such as W1.')
  await service.close()
})

test('a message over 4 KB closes with 1009', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  const of = (bytes: number) =>
    JSON.stringify({ action: 'ping', more: '' }).replace('""', `"${'x'.repeat(bytes - 27)}"`)
  client.send(of(4096))
  t.deepEqual(await client.take(1), [{ type: 'pong' }])
  client.send(of(4097))
  const [answer] = await client.take(1)
  t.is((answer as { code: string }).code, 'invalid_message')
  t.is(await client.closed, 1009)
  const other = await service.connect('alice')
  other.send(of(20_000))
  t.is(await other.closed, 1009)
  await service.close()
})

test('a balance is spent to the last credit, with messages when it is low and exhausted; then the connection ends (rule F5)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 40)
  const client = await service.connect('alice')
  await client.subscribe()
  const swaps = many(1, 60)
  await service.log.appendSlot(slotOf(1, ...swaps))
  const messages = swaps.map(message(service))
  t.deepEqual(await client.take(42), [
    ...messages.slice(0, 36),
    { type: 'balance_low', balance_credits: 4 },
    ...messages.slice(36, 40),
    { type: 'balance_exhausted' },
  ])
  t.is(await client.closed, 1008)
  await service.close()
  t.is(await leftOf(service.meter, 'alice'), 0)
})

test('five credits pay for exactly five trades', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 5)
  const client = await service.connect('alice')
  await client.subscribe()
  for (let slot = 1; slot <= 5; slot++) {
    await service.log.appendSlot(slotOf(slot, at(slot)))
    t.deepEqual(await client.take(1), [message(service)(at(slot))])
  }
  t.deepEqual(await client.fence(), [])
  await service.log.appendSlot(slotOf(6, at(6)))
  t.deepEqual(await client.take(2), [{ type: 'balance_exhausted' }])
  t.is(await client.closed, 1008)
  await service.close()
})

test('trades wait while the meter does not answer; none is free and none is lost (rule K5)', async (t) => {
  let failures = 20
  const service = await startFeed({
    beforeRenewal: async () => {
      if (failures-- > 0) throw new ServiceError('unavailable', 'down', { retriable: true })
    },
  })
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  await client.subscribe()
  const swaps = [...many(1, 20), ...many(2, 20)]
  await service.log.appendSlot(slotOf(1, ...swaps.slice(0, 20)))
  await service.log.appendSlot(slotOf(2, ...swaps.slice(20)))
  t.deepEqual(await client.take(40), swaps.map(message(service)))
  t.true(failures < 0)
  await service.close()
  t.is(await leftOf(service.meter, 'alice'), 60)
})

test('a long outage of the meter closes a connection whose trade waits with 1013; an idle one stays', async (t) => {
  let now = 0
  const service = await startFeed({
    block: { now: () => now, pause: async () => {} },
    connectionsPerKey: 2,
    beforeRenewal: async () => {
      now += 1000
      throw new ServiceError('unavailable', 'down', { retriable: true })
    },
  })
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  const patient = await service.connect('alice')
  await client.subscribe()
  await patient.subscribe({ mints: [JUP] })
  await service.log.appendSlot(slotOf(1, at(1)))
  t.deepEqual(await client.take(1), [{ type: 'unavailable' }])
  t.is(await client.closed, 1013)
  t.deepEqual(await patient.fence(), [])
  await service.close()
})

test('a client that has begun to close pays for no trade of the time until its socket ends (rule F5)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  const client = await halfOpenClient(service.port, 'alice')
  client.write(0x1, JSON.stringify({ action: 'subscribe', channels: ['trades'] }))
  await client.received('"subscribed"')
  await service.log.appendSlot(slotOf(10, ...many(10, 2)))
  await client.received(message(service)(at(10, 1, 2)).id)
  client.write(0x8, '')
  await client.ended // the service has answered the close, and waits for the client's end
  await service.log.appendSlot(slotOf(11, ...many(11, 3)))
  client.destroy()
  await service.close()
  t.is(await leftOf(service.meter, 'alice'), 998)
})

/** A client that leaves its half of the TCP connection open when the service ends the other. */
async function halfOpenClient(port: number, account: string) {
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  const ended = once(socket, 'end')
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  const client = {
    ended,
    /** Resolves once the service has sent this text. */
    async received(part: string): Promise<void> {
      while (!text.includes(part)) await once(socket, 'data')
    },
    /** Sends a frame of at most 125 bytes, masked with zeros (RFC 6455 5.2). */
    write(opcode: number, payload: string): void {
      const head = [0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]
      socket.write(Buffer.concat([Buffer.from(head), Buffer.from(payload)]))
    },
    destroy: () => socket.destroy(),
  }
  const lines = [
    'GET /ws HTTP/1.1',
    'host: localhost',
    'upgrade: websocket',
    'connection: upgrade',
    `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}`,
    'sec-websocket-version: 13',
    `authorization: Bearer ${account}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await client.received(' 101 ')
  return client
}

test('a newer connection of the same key supersedes the oldest (rule F6)', async (t) => {
  const service = await startFeed({ connectionsPerKey: 2 })
  for (const account of ['alice', 'bob']) await fund(service.meter, account, 100)
  const first = await service.connect('alice')
  const second = await service.connect('alice')
  const other = await service.connect('bob')
  const third = await service.connect('alice')
  t.deepEqual(await first.take(1), [{ type: 'superseded' }])
  t.is(await first.closed, 1008)
  for (const client of [second, other, third]) t.deepEqual(await client.fence(), [])
  await service.close()
})

test('each heartbeat sends a ping message and a protocol ping; two unanswered end the connection (rule F7)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 100)
  await fund(service.meter, 'bob', 100)
  const silent = await service.connect('alice', { autoPong: false })
  const client = await service.connect('bob')
  await client.subscribe()
  for (let beat = 0; beat < 3; beat++) {
    const pinged = once(client.socket, 'ping')
    service.beat()
    await pinged
    t.deepEqual(await client.take(1), [{ type: 'ping' }])
    await client.fence() // its pong has been read before this is answered
  }
  // Client `silent` has no subscription, so it receives only the protocol's pings (rule F2).
  t.is(await silent.closed, 1006)
  t.deepEqual(await silent.take(1), [])
  await service.close()
})

test('a client that does not read is closed with 1013, and the others get every trade (rule F7)', async (t) => {
  const service = await startFeed({ connectionsPerKey: 2 })
  await fund(service.meter, 'alice', 1_000_000)
  const slow = await service.connect('alice')
  const client = await service.connect('alice')
  await slow.subscribe()
  await client.subscribe()
  slow.socket.pause()
  for (let slot = 1; slot <= 15; slot++) {
    const swaps = many(slot, 1000)
    await service.log.appendSlot(slotOf(slot, ...swaps))
    t.is((await client.take(1000)).length, 1000)
  }
  slow.socket.resume()
  t.is(await slow.closed, 1013)
  t.deepEqual(slow.received.at(-1), { type: 'slow_reader' })
  t.true(slow.received.length < 15_000)
  await service.close()
})

test('on shutdown every client gets `restarting` and close code 1012, and its reserved credits are returned (rules F7, J5)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 100)
  const client = await service.connect('alice')
  await client.subscribe()
  await service.log.appendSlot(slotOf(1, at(1)))
  await client.take(1)
  t.true((await leftOf(service.meter, 'alice'))! < 99)
  const stopped = service.feed.stop(1000)
  t.deepEqual(await client.take(1), [{ type: 'restarting' }])
  t.is(await client.closed, 1012)
  await stopped
  t.is(await leftOf(service.meter, 'alice'), 99)
  const late = new WebSocket(`ws://127.0.0.1:${service.port}/ws`)
  const [, response] = (await once(late, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ]
  t.is(response.statusCode, 503)
  late.on('error', () => {}).terminate()
  await service.close()
})

test('with `after`, trades since that position are sent first, then live ones without gap or repetition (rule F4)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  const swaps = [...many(10, 40), ...many(12, 40)]
  await service.log.appendSlot(slotOf(10, ...swaps.slice(0, 40)))
  await service.log.appendSlot(after(10, 12, ...swaps.slice(40)))
  await service.log.appendLate([at(10, 1, 3), at(10, 100, 1)], 'stream')
  await service.log.appendSlot(slotOf(13))
  const id = (swap: Swap) => message(service)(swap).id
  const client = await service.connect('alice')
  t.deepEqual(await client.subscribe({ after: id(swaps[20]!) }), subscribed(service, 13))
  await service.log.appendSlot(slotOf(14, at(14)))
  const got = (await client.take(62)) as { id: string; late?: true; data: object }[]
  const expected = [
    ...[at(10, 1, 3), ...swaps.slice(21, 40), at(10, 100, 1), ...swaps.slice(40), at(14)],
  ]
  t.deepEqual(
    got.map(({ data }) => data),
    expected.map((swap) => tradeItem(served(swap))),
  )
  t.deepEqual(
    got.map(({ late }) => late),
    expected.map((_, place) => (place === 0 ? true : undefined)),
  )
  t.deepEqual(
    got.map((one) => service.cursors.decode('trades', one.id)),
    [swaps[20]!, ...expected.slice(1)].map(({ slot, txIndex, wallet, eventIndex }) => ({
      slot,
      txIndex,
      wallet,
      eventIndex,
    })),
  )
  // Resuming after any trade gives exactly the trades after it.
  for (const [place, one] of got.entries()) {
    if (place % 7 !== 0) continue
    await client.subscribe({ after: one.id })
    const rest = (await client.take(got.length - place - 1)) as { data: object }[]
    t.deepEqual(
      rest.map(({ data }) => data),
      expected.slice(place + 1).map((swap) => tradeItem(served(swap))),
    )
    t.deepEqual(await client.fence(), [])
  }

  // A cursor of `GET /trades` says nothing of late trades: those before it are not sent.
  await client.subscribe({ after: service.cursors.encode('trades', swaps[79]!), wallets: ['W1'] })
  t.deepEqual(await client.take(1), [message(service)(at(14))])
  await client.subscribe({ after: subscribed(service, 14).cursor })
  t.deepEqual(await client.fence(), [])
  await service.close()
})

test('a client whose position is ahead of this process gets nothing until the relay has passed it', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  await service.log.appendSlot(slotOf(10, at(10)))
  const client = await service.connect('alice')
  await client.subscribe({ after: message(service)(at(12, 3)).id })
  await service.log.appendSlot(slotOf(11, at(11)))
  await service.log.appendSlot(slotOf(12, at(12), at(12, 3), at(12, 4)))
  await service.log.appendSlot(slotOf(13, at(13)))
  t.deepEqual(await client.take(2), [at(12, 4), at(13)].map(message(service)))
  t.deepEqual(await client.fence(), [])
  await service.close()
})

test('skipped slots are reported by a gap in their place, live and on resume (rule K2)', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  const client = await service.connect('alice')
  const { cursor } = (await client.subscribe({ mints: [BONK] })) as { cursor: string }
  await service.log.appendSlot(slotOf(10, at(10)))
  await service.log.appendSlot(after(8999, 9000, at(9000)))
  const oldest = service.cursors.encode('trades', endOfSlot(8999), lateBefore(0, 8999))
  const expected = [message(service)(at(10)), { type: 'gap', oldest }, message(service)(at(9000))]
  t.deepEqual(await client.take(3), expected)
  await client.subscribe({ after: cursor })
  t.deepEqual(await client.take(3), expected)
  await client.subscribe({ after: oldest })
  t.deepEqual(await client.take(1), expected.slice(2))
  await service.close()
})

test('the feed perturbs trades as GET /trades does with the same salt (rule I2)', async (t) => {
  const perturb = createPerturb('a salt that nobody knows')
  const service = await startFeed({ perturb })
  await fund(service.meter, 'alice', 1000)
  const client = await service.connect('alice')
  const { cursor } = (await client.subscribe()) as { cursor: string }
  await service.log.appendSlot(slotOf(10, at(10)))
  const sent = {
    ...message(service)(at(10)),
    data: tradeItem(serveSwap(withValue(at(10)), perturb)),
  }
  t.notDeepEqual(sent.data, tradeItem(served(at(10))))
  t.deepEqual(await client.take(1), [sent])
  await client.subscribe({ after: cursor })
  t.deepEqual(await client.take(1), [sent])
  await service.close()
})

test('a malformed handshake is refused over HTTP', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1000)
  const asked = request({
    port: service.port,
    path: '/ws',
    headers: { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '7' },
  }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  t.is(response.statusCode, 426)
  t.is(response.headers['sec-websocket-version'], '13')
  t.is(response.headers['content-type'], 'application/problem+json')
  response.resume()
  await once(response, 'end')
  await service.close()
})
