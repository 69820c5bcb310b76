import { EventEmitter, once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { CommitmentLevel, SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import bs58 from 'bs58'
import { addressBytes, addressFromBytes } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'
import { createWallets } from '../domain/wallets.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import type { FinalityStart } from './finality/finality-follower.ts'
import { type ChainFollower, followChain } from './follow-chain.ts'
import type { FollowLimits } from './follow-limits.ts'
import { RpcErrorResponse } from './rpc/json-rpc.ts'
import type { RpcBlock, SolanaRpc } from './rpc/solana-rpc.ts'
import { createSolPrices } from './sol-price.ts'
import type { OpenUpdateStream, StreamEnd, UpdateStreamOptions } from './stream/yellowstone.ts'
import { createIngestMetrics } from './telemetry.ts'

const wallet = addressFromBytes(new Uint8Array(32).fill(9))
const pool = addressFromBytes(new Uint8Array(32).fill(8))
const timeOf = (slot: number) => 1_700_000_000 + slot
const signatureOf = (slot: number, index: number) => {
  const bytes = Buffer.alloc(64, 1)
  bytes.writeUInt32BE(slot)
  bytes.writeUInt32BE(index, 4)
  return bytes
}

// The generated type of a partial message does not accept literals.
const encode = (update: object) =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
const tx = (slot: number, index: number) =>
  encode({
    transaction: {
      slot: String(slot),
      transaction: {
        signature: signatureOf(slot, index),
        index: String(index),
        transaction: {
          message: { header: { numRequiredSignatures: 1 }, accountKeys: [addressBytes(wallet)] },
        },
        meta: { fee: '5000', preBalances: ['7'], postBalances: ['6'] },
      },
    },
  })
const endOf = (slot: number, parent: number) => [
  encode({
    blockMeta: {
      slot: String(slot),
      parentSlot: String(parent),
      blockTime: { timestamp: String(timeOf(slot)) },
    },
  }),
  encode({ slot: { slot: String(slot), status: 1 } }),
]
/** A block with `count` transactions of the wallet after one of an untracked account. */
const blockOf = (slot: number, parent: number, count: number): RpcBlock => ({
  slot,
  parent,
  blockTime: timeOf(slot),
  blockId: null,
  transactions: Array.from({ length: count + 1 }, (_, index) => ({
    transaction: {
      signatures: [bs58.encode(signatureOf(slot, index))],
      message: {
        header: { numRequiredSignatures: 1 },
        accountKeys: [index === 0 ? pool : wallet],
        instructions: [],
      },
    },
    meta: { err: null, fee: 5000, preBalances: [7], postBalances: [6], innerInstructions: [] },
  })),
})

/**
 * A chain without skipped slots up to `tip`, each block with `count` transactions of the wallet.
 */
function fakeRpc(tip: number, count = 0): SolanaRpc & { requestedSlots: number[] } {
  const requestedSlots: number[] = []
  return {
    requestedSlots,
    ping: async () => {},
    getSlot: async () => tip,
    getBlocks: async (from, to) => {
      const last = Math.min(to, tip)
      return Array.from({ length: Math.max(0, last - from + 1) }, (_, at) => from + at)
    },
    async getBlock(slot) {
      requestedSlots.push(slot)
      return slot > tip ? 'not_yet' : blockOf(slot, slot - 1, count)
    },
    getBlockHead: async () => 'not_yet',
    getMultipleAccounts: async (addresses) => addresses.map(() => null),
    close: () => {},
  }
}

/** A server whose streams the test feeds and ends. `first`: how the first streams end. */
function fakeServer(first: readonly StreamEnd[] = []) {
  const refusals = [...first]
  const opened: (UpdateStreamOptions & { sent: unknown[]; closed: boolean })[] = []
  let wake: () => void = () => {}
  const open: OpenUpdateStream = async (options) => {
    const refusal = refusals.shift()
    const stream = { ...options, sent: [options.request] as unknown[], closed: false }
    opened.push(stream)
    wake()
    if (refusal?.kind === 'failed' || refusal?.kind === 'refused') return refusal
    if (refusal !== undefined) setImmediate(() => options.onEnd(refusal))
    return {
      send: (request) => stream.sent.push(request),
      close: () => {
        stream.closed = true
      },
    }
  }
  return {
    open,
    opened,
    /** The n-th stream, from 1, once it is open. */
    async stream(n: number) {
      while (opened.length < n) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      await new Promise(setImmediate)
      const stream = opened[n - 1]
      if (stream === undefined) throw new Error('opened')
      return {
        ...stream,
        get closed() {
          return stream.closed
        },
        get sent() {
          return stream.sent
        },
        feed: (...updates: Uint8Array[]) => {
          for (const update of updates) stream.onUpdate(update)
        },
      }
    },
  }
}

/** Follows from `head`. The second subscription, to finalized blocks, stays silent. */
function follow(
  head: number | null,
  rpc: SolanaRpc,
  openStream: OpenUpdateStream,
  limits: Partial<FollowLimits> = {},
  wallets = createWallets([wallet]),
  finality: Partial<FinalityStart> = {},
): ChainFollower {
  return followChain(
    {
      endpoint: 'http://fake',
      xToken: null,
      pricePool: pool,
      wallets,
      head,
      finality: { finalized: head, sealed: [], withdrawn: new Set(), ...finality },
    },
    {
      rpc,
      openStream: async (options) =>
        options.request.commitment === CommitmentLevel.FINALIZED
          ? { send: () => {}, close: () => {} }
          : openStream(options),
      prices: createSolPrices(),
      logger: createLogger('silent'),
      metrics: createIngestMetrics(createRegistry()),
    },
    { backoffMs: 1, maxBackoffMs: 4, recheckSlots: 0, ...limits },
  )
}

/** The next `count` outputs, abbreviated: slot, parent and transaction count, or kind and slots. */
async function take(chain: ChainFollower, count: number) {
  const taken: unknown[] = []
  while (taken.length < count) {
    const output = await chain.next()
    if (output === null) break
    if (output.kind === 'slot') taken.push([output.slot, output.parent, output.transactions.length])
    else if (output.kind === 'gap') taken.push(['gap', output.fromSlot, output.toSlot])
    else if (output.kind === 'withdrawn') taken.push(['withdrawn', output.slot])
    else taken.push(['late', output.slot, output.transaction.index, output.origin])
  }
  return taken
}

test('a new stream starts after the last sealed slot and repeats unsealed slots', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(0), server.open)
  const first = await server.stream(1)
  t.is(first.request.fromSlot, '11')
  first.feed(tx(11, 0), ...endOf(11, 10), tx(12, 0), tx(12, 1))
  await chain.opened
  t.deepEqual(await take(chain, 1), [[11, 10, 1]])
  first.onEnd({ kind: 'failed', message: 'cut' })
  const second = await server.stream(2)
  t.is(second.request.fromSlot, '12')
  second.feed(tx(12, 1), tx(12, 2), ...endOf(12, 11))
  t.deepEqual(await take(chain, 1), [[12, 11, 3]])
  await chain.close()
  t.is(await chain.next(), null)
})

test('slots that the server cannot replay come over RPC, in order, before later slots (rule K2)', async (t) => {
  const server = fakeServer([{ kind: 'out_of_range', oldest: 15 }])
  const chain = follow(10, fakeRpc(20, 2), server.open)
  const second = await server.stream(2)
  t.is(second.request.fromSlot, '21')
  second.feed(tx(21, 0), ...endOf(21, 20))
  t.deepEqual(await take(chain, 11), [
    ...Array.from({ length: 10 }, (_, at) => [11 + at, 10 + at, 2]),
    [21, 20, 1],
  ])
  await chain.close()
})

test('after OUT_OF_RANGE with nothing to fetch, the next stream is opened after a pause', async (t) => {
  const server = fakeServer([{ kind: 'out_of_range', oldest: null }])
  const chain = follow(10, fakeRpc(10), server.open, { backoffMs: 60_000, maxBackoffMs: 60_000 })
  await server.stream(1)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  t.is(server.opened.length, 1)
  await chain.close()
})

test('a stream whose idle timeout passed while it was opening is closed', async (t) => {
  const server = fakeServer()
  let late: UpdateStreamOptions | null = null
  const chain = follow(
    10,
    fakeRpc(10),
    async (options) => {
      if (late !== null) return server.open(options)
      late = options
      await new Promise((opened) => setTimeout(opened, 60))
      return server.open(options)
    },
    { idleMs: 20 },
  )
  await server.stream(2)
  t.true((await server.stream(1)).closed)
  await chain.close()
})

test('only slots that the server lost, or is about to lose, are fetched', async (t) => {
  const server = fakeServer([{ kind: 'out_of_range', oldest: 1000 }])
  const rpc = fakeRpc(5000)
  const chain = follow(990, rpc, server.open)
  const second = await server.stream(2)
  t.is(second.request.fromSlot, '1033')
  t.deepEqual(
    rpc.requestedSlots,
    Array.from({ length: 42 }, (_, at) => 991 + at),
  )
  await chain.close()
})

test('a gap of 3,000 slots is fetched; after a longer gap the chain continues with live slots (rule K2)', async (t) => {
  for (const missing of [3000, 3001]) {
    const server = fakeServer([{ kind: 'out_of_range', oldest: 11 + missing }])
    const chain = follow(10, fakeRpc(11 + missing), server.open)
    const second = server.stream(2)
    if (missing === 3000) {
      t.deepEqual((await take(chain, 3001)).at(-1), [3011, 3010, 0])
      t.is((await second).request.fromSlot, '3012')
    } else {
      const stream = await second
      t.is(stream.request.fromSlot, undefined)
      stream.feed(...endOf(9000, 8999), tx(9001, 0), ...endOf(9001, 9000))
      t.deepEqual(await take(chain, 2), [
        ['gap', 11, 9000],
        [9001, 9000, 1],
      ])
    }
    await chain.close()
  }
})

test('without replay, all slots before the first whole slot of the stream come over RPC', async (t) => {
  const server = fakeServer([{ kind: 'no_replay' }])
  const later = fakeRpc(16, 1)
  const chain = follow(10, { ...later, getSlot: async () => 12 }, server.open)
  const second = await server.stream(2)
  t.is(second.request.fromSlot, undefined)
  second.feed(
    tx(14, 5),
    ...endOf(14, 13),
    tx(15, 1),
    ...endOf(15, 14),
    tx(16, 0),
    tx(16, 1),
    ...endOf(16, 15),
  )
  t.deepEqual(await take(chain, 6), [
    [11, 10, 1],
    [12, 11, 1],
    [13, 12, 1],
    [14, 13, 1],
    [15, 14, 1],
    [16, 15, 2],
  ])
  second.onEnd({ kind: 'failed', message: 'cut' })
  t.is((await server.stream(3)).request.fromSlot, undefined)
  await chain.close()
})

test('wallets are split into several filters when the server limits addresses per filter', async (t) => {
  const wallets = createWallets(
    [1, 2, 3].map((byte) => addressFromBytes(new Uint8Array(32).fill(byte))),
  )
  const server = fakeServer([{ kind: 'too_many_addresses', most: 2 }])
  const chain = follow(10, fakeRpc(0), server.open, {}, wallets)
  const second = await server.stream(2)
  t.deepEqual(
    Object.values(second.request.transactions).map((filter) => filter.accountInclude.length),
    [2, 1],
  )
  await chain.close()
})

test('a stream without slots is replaced although it answers pings', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(0), server.open, { idleMs: 100, pingMs: 5 })
  const first = await server.stream(1)
  const pong = setInterval(() => first.feed(encode({ pong: { id: 1 } })), 5)
  const second = await server.stream(2)
  clearInterval(pong)
  t.true(first.closed)
  t.true(first.sent.length > 1, 'pinged')
  t.is(second.request.fromSlot, '11')
  await chain.close()
})

test('when too many slots wait, the stream is closed until the consumer catches up', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(0), server.open, { maxWaitingSlots: 4 })
  const first = await server.stream(1)
  for (let slot = 11; slot <= 15; slot++) first.feed(...endOf(slot, slot - 1))
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.true(first.closed)
  t.is(server.opened.length, 1, 'no stream while nothing is taken')
  t.deepEqual(
    await take(chain, 5),
    [11, 12, 13, 14, 15].map((slot) => [slot, slot - 1, 0]),
  )
  t.is((await server.stream(2)).request.fromSlot, '16')
  await chain.close()
})

test('when too many bytes wait for a seal, the stream is closed', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(0), server.open, { maxPendingBytes: 1000 })
  const first = await server.stream(1)
  for (let index = 0; index < 20; index++) first.feed(tx(11, index))
  t.true(first.closed)
  const second = await server.stream(2)
  t.is(second.request.fromSlot, '11')
  second.feed(tx(11, 0), ...endOf(11, 10))
  t.deepEqual(await take(chain, 1), [[11, 10, 1]])
  await chain.close()
})

test('after a cut, slots before it and replayed slots are compared with RPC to find late transactions', async (t) => {
  const server = fakeServer()
  let tip = 10
  const rpc = { ...fakeRpc(13, 2), getSlot: async () => tip }
  const chain = follow(10, rpc, server.open, { recheckSlots: 2, restartRecheckSlots: 3 })
  const first = await server.stream(1)
  t.deepEqual(
    await take(chain, 6),
    [8, 9, 10].flatMap((slot) => [1, 2].map((index) => ['late', slot, index, 'backfill'])),
  )
  first.feed(tx(11, 1), ...endOf(11, 10), tx(12, 1), tx(12, 2), ...endOf(12, 11))
  tip = 13
  first.onEnd({ kind: 'failed', message: 'cut' })
  const second = await server.stream(2)
  second.feed(tx(13, 1), ...endOf(13, 12))
  // Slot 13 may be replayed before or after the slots before the cut were compared.
  const outputs = await take(chain, 5)
  const isLate = (output: unknown) => Array.isArray(output) && output[0] === 'late'
  t.deepEqual(
    [outputs.filter((one) => !isLate(one)), outputs.filter(isLate)],
    [
      [
        [11, 10, 1],
        [12, 11, 2],
        [13, 12, 1],
      ],
      [
        ['late', 11, 2, 'stream'],
        ['late', 13, 2, 'stream'],
      ],
    ],
  )
  t.deepEqual(rpc.requestedSlots, [8, 9, 10, 11, 12, 13])
  await chain.close()
})

test('a chain is caught up once the slots before its stream are compared, and not between streams (rule K2)', async (t) => {
  const server = fakeServer()
  const held: (() => void)[] = []
  const asked = new EventEmitter()
  const blocks = fakeRpc(10, 1)
  const rpc = {
    ...blocks,
    getSlot: async () => 10,
    async getBlock(slot: number) {
      await new Promise<void>((resolve) => {
        held.push(resolve)
        asked.emit('block')
      })
      return blocks.getBlock(slot)
    },
  }
  let isAsked = once(asked, 'block')
  const chain = follow(10, rpc, server.open, { recheckSlots: 1, restartRecheckSlots: 1 })
  t.true(chain.isCatchingUp, 'before the stream is open')
  for (const n of [1, 2]) {
    const stream = await server.stream(n)
    await isAsked
    t.true(chain.isCatchingUp, `stream ${n} is open, and RPC has not answered`)
    isAsked = once(asked, 'block')
    held.pop()?.()
    while (chain.isCatchingUp) await nextTurn()
    stream.onEnd({ kind: 'failed', message: 'cut' })
    while (!chain.isCatchingUp) await nextTurn()
  }
  await chain.close()
  t.true(chain.isCatchingUp)
})

test('a slot that was withdrawn before a restart is not compared: only its finalized block counts (rule K9)', async (t) => {
  const server = fakeServer()
  const limits = { recheckSlots: 2, restartRecheckSlots: 3 }
  const sealed = [11, 12].map((slot) => ({ slot, parent: slot - 1, blockId: null }))
  const chain = follow(12, fakeRpc(12, 1), server.open, limits, undefined, {
    finalized: 10,
    sealed,
    withdrawn: new Set([11]),
  })
  await server.stream(1)
  t.deepEqual(await take(chain, 2), [
    ['late', 10, 1, 'backfill'],
    ['late', 12, 1, 'backfill'],
  ])
  await chain.close()
})

test('after a long cut the slots before it are compared too, and a failing RPC call is retried', async (t) => {
  const server = fakeServer()
  const newest = 400
  let tip = 10
  let failures = 0
  const blocks = fakeRpc(newest, 2)
  const rpc = {
    ...blocks,
    getSlot: async () => tip,
    async getBlock(slot: number) {
      if (slot === 12 && failures++ === 0) throw new ServiceError('unreachable', 'gone')
      return blocks.getBlock(slot)
    },
  }
  const limits = { recheckSlots: 2, restartRecheckSlots: 1, maxWaitingSlots: 1000 }
  const chain = follow(10, rpc, server.open, limits)
  const first = await server.stream(1)
  first.feed(...endOf(11, 10), tx(12, 1), ...endOf(12, 11))
  tip = newest
  first.onEnd({ kind: 'failed', message: 'cut' })
  const second = await server.stream(2)
  for (let slot = 13; slot <= newest; slot += 1) second.feed(...endOf(slot, slot - 1))
  for (let found = false; !found; ) {
    const [output] = await take(chain, 1)
    found = isDeepStrictEqual(output, ['late', 12, 2, 'stream'])
  }
  t.is(failures, 2)
  await chain.close()
})

test('slots before a cut are compared before a gap behind them is filled, however long (rule K2)', async (t) => {
  const server = fakeServer()
  let tip = 10
  const rpc = { ...fakeRpc(1000, 2), getSlot: async () => tip }
  const limits = { recheckSlots: 2, restartRecheckSlots: 1, maxWaitingSlots: 2000 }
  const chain = follow(10, rpc, server.open, limits)
  const first = await server.stream(1)
  first.feed(tx(11, 1), ...endOf(11, 10))
  tip = 1000
  first.onEnd({ kind: 'failed', message: 'cut' })
  await server.stream(2)
  for (let found = false; !found; ) {
    const [output] = await take(chain, 1)
    found = isDeepStrictEqual(output, ['late', 11, 2, 'stream'])
  }
  await chain.close()
  t.pass('before any slot of the gap came')
})

test('a missing slot is requested over RPC until the server has it', async (t) => {
  const server = fakeServer()
  let tries = 0
  const rpc = {
    ...fakeRpc(20, 1),
    getBlock: async (slot: number) =>
      ++tries < 3 ? ('not_yet' as const) : blockOf(slot, slot - 1, 1),
  }
  const chain = follow(10, rpc, server.open, { patienceMs: 1 })
  const first = await server.stream(1)
  first.feed(tx(12, 0), ...endOf(12, 11))
  t.deepEqual(await take(chain, 2), [
    [11, 10, 1],
    [12, 11, 1],
  ])
  await chain.close()
})

test('a block that RPC refuses for good becomes a gap, and so does a gap that it refuses to list (rule K10)', async (t) => {
  const refuse = async () => {
    throw new RpcErrorResponse('getBlock', -32015, 'no')
  }
  const server = fakeServer()
  const rpc = { ...fakeRpc(20, 1), getBlock: refuse }
  const chain = follow(10, rpc, server.open, { patienceMs: 1, refusalMs: 0 })
  const first = await server.stream(1)
  first.feed(tx(13, 0), ...endOf(13, 12), tx(14, 0), ...endOf(14, 13))
  t.deepEqual(await take(chain, 3), [
    ['gap', 11, 12],
    [13, 12, 1],
    [14, 13, 1],
  ])
  await chain.close()

  const second = fakeServer([{ kind: 'out_of_range', oldest: 15 }])
  const lists = { ...fakeRpc(20, 1), getBlocks: refuse }
  const other = follow(10, lists, second.open, { patienceMs: 1, refusalMs: 0 })
  const live = await second.stream(2)
  live.feed(...endOf(18, 17), tx(19, 0), ...endOf(19, 18))
  t.deepEqual(await take(other, 2), [
    ['gap', 11, 18],
    [19, 18, 1],
  ])
  await other.close()
})

test('a block that a server lacks is waited for while the server is behind its slot, and then given up (rule K10)', async (t) => {
  const server = fakeServer()
  let tip = 11
  let tipRequests = 0
  const rpc = {
    ...fakeRpc(20, 1),
    getSlot: async () => {
      if (++tipRequests > 3) tip = 20
      return tip
    },
    getBlock: async () => 'not_yet' as const,
  }
  const chain = follow(10, rpc, server.open, { patienceMs: 1, refusalMs: 0 })
  const first = await server.stream(1)
  first.feed(...endOf(12, 11))
  t.deepEqual(await take(chain, 2), [
    ['gap', 11, 11],
    [12, 11, 0],
  ])
  t.is(tipRequests, 4)
  await chain.close()
})

test('a start that fails names the environment variable at fault', async (t) => {
  const cases = [
    [
      { kind: 'failed', message: 'refused by the port' },
      'unreachable',
      /^YELLOWSTONE_ENDPOINT: .*refused by the port/,
    ],
    [{ kind: 'refused' }, 'bad_config', /^YELLOWSTONE_X_TOKEN: /],
  ] as const
  for (const [end, code, message] of cases) {
    const chain = follow(10, fakeRpc(0), fakeServer([end]).open)
    await t.throwsAsync(chain.opened, { code, message })
    await chain.close()
  }
})

test('wallets added while a stream opens are in the request of the next stream, from the same slot', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(10), async (options) => {
    if (server.opened.length === 0) chain.updateWallets(createWallets([wallet, pool]))
    return server.open(options)
  })
  const second = await server.stream(2)
  t.like(second.request, {
    transactions: { 'wallets-1': { accountInclude: [wallet, pool] } },
    fromSlot: '11',
  })
  t.true((await server.stream(1)).closed)
  await chain.close()
})

test('changed wallets replace the filters of the open stream', async (t) => {
  const server = fakeServer()
  const chain = follow(10, fakeRpc(0), server.open)
  const first = await server.stream(1)
  first.feed(tx(11, 0))
  chain.updateWallets(createWallets([wallet, pool]))
  t.like(first.sent.at(-1), {
    transactions: { 'wallets-1': { accountInclude: [wallet, pool] } },
    fromSlot: undefined,
  })
  await chain.close()
})
