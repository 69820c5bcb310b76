import { type SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import {
  type Coin,
  poolKeyOf,
  priceAt,
  reservesAt,
} from '../../../infra/simulator/market/universe.ts'
import { curveAt } from '../../../infra/simulator/market/venues/pumpfun.ts'
import { startSimulator } from '../../../infra/simulator/simulator.ts'
import { type Address, addressBytes, addressFromBytes } from '../../domain/address.ts'
import { WSOL } from '../../domain/quote.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { createRpc } from '../rpc/rpc.ts'
import {
  type OpenUpdateStream,
  openUpdateStream,
  type UpdateStreamOptions,
} from '../stream/yellowstone.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { readEnvelope } from '../wire/update-envelope.ts'
import { PoolSnapshots } from './pool-snapshots.ts'
import type { PoolState } from './pool-state.ts'
import { PoolWatch } from './pool-watch.ts'
import { createPoolMetrics } from './telemetry.ts'

const START = 405_000_000

test('states equal those of the simulated market: over RPC, over the stream, after changes and cuts', async (t) => {
  const simulator = await startSimulator({
    seed: 7,
    wallets: 5,
    coins: 18,
    othersPerSlot: 12,
    clock: { kind: 'manual', startSlot: START },
  })
  t.teardown(() => simulator.close())
  const { coins } = simulator.market.universe
  const venues = [...new Set(coins.map(({ venue }) => venue))]
  t.is(venues.length, 6)
  const first = venues.map((venue) => coins.find((coin) => coin.venue === venue)!)
  const another = coins.find((coin) => !first.includes(coin) && coin.venue !== 'pumpfun')!
  const listOf = (list: readonly Coin[]) =>
    list.map((coin) => ({
      mint: coin.mint.key.address,
      pool: poolKeyOf(coin).address,
    }))

  const heard = createBell()
  const openStream: OpenUpdateStream = async (options) => {
    const opened = await openUpdateStream({
      ...options,
      onUpdate(bytes) {
        options.onUpdate(bytes)
        // Each slot has one status.
        if (readEnvelope(bytes)?.kind === 'slot') heard.ring()
      },
    })
    heard.ring()
    return opened
  }
  const registry = createRegistry()
  let requests = 0
  const rpc = createRpc({
    url: simulator.rpcUrl,
    metrics: createIngestMetrics(createRegistry()),
    onRequest: () => requests++,
  })
  const watch = new PoolWatch(
    { endpoint: simulator.endpoint, xToken: null },
    {
      rpc,
      openStream,
      logger: createLogger('silent'),
      metrics: createPoolMetrics(registry),
      onBug: (error) => t.fail(String(error)),
    },
  )
  t.teardown(() => watch.stop())
  const newest = (coin: Coin) => watch.newest(coin.mint.key.address)
  const until = async (is: () => boolean) => {
    while (!is()) {
      simulator.advance(1)
      await heard.next()
    }
  }

  watch.watch(listOf(first))
  await until(() => first.every((coin) => newest(coin) !== undefined))
  for (const coin of first) check(t, coin, newest(coin)!)
  t.is(requests, 2, 'one call for the pools, one for them and their vaults')
  const then = new Map(first.map((coin) => [coin, newest(coin)!.slot]))

  // From here on all updates come over the stream.
  await until(() => first.every((coin) => newest(coin)!.slot > then.get(coin)!))
  for (const coin of first) check(t, coin, newest(coin)!)
  watch.watch(listOf(first).reverse())
  t.is(requests, 2)

  const [gone, ...rest] = first
  watch.watch(listOf([...rest, another]))
  t.is(newest(gone!), undefined)
  await until(() => {
    for (const coin of rest)
      if (newest(coin) === undefined) t.fail('a pool that stays has a state at all times')
    return newest(another) !== undefined
  })
  check(t, another, newest(another)!)
  t.is(requests, 4, 'accounts that stay are not read again')

  const cut = simulator.slot
  simulator.disconnect()
  await until(() => [...rest, another].every((coin) => newest(coin)!.slot > cut))
  for (const coin of [...rest, another]) check(t, coin, newest(coin)!)
  t.regex(await registry.metrics(), /pool_streams_total\{end="failed"\} 1/)
  t.regex(await registry.metrics(), /pools_watched 6/)
  t.notRegex(await registry.metrics(), /pool_accounts_read_total\{kind="(malformed|other|closed)"/)

  watch.watch([])
  t.is(newest(another), undefined)
})

/**
 * Compares a state with the market at the same slot. Uses the market's formulas, not account bytes.
 */
function check(
  t: { deepEqual(a: unknown, b: unknown): void; true(a: boolean, why: string): void },
  coin: Coin,
  state: PoolState,
) {
  const { price, slot, ...rest } = state
  const { quote } =
    coin.venue === 'pumpfun' ? { quote: curveAt(coin, slot).realSol } : reservesAt(coin, slot)
  t.deepEqual(rest, {
    mint: coin.mint.key.address,
    pool: poolKeyOf(coin).address,
    quoteMint: coin.quote.key.address,
    quoteReserve: quote,
  })
  const actual = Number((price.quote * 10n ** 30n) / price.base) / 1e30
  // A DLMM price is that of a bin of 20 basis points.
  const slack = coin.venue === 'meteora_dlmm' ? 0.0021 : 1e-6
  t.true(
    Math.abs(actual / priceAt(coin, slot) - 1) < slack,
    `${coin.venue} ${actual} ${priceAt(coin, slot)}`,
  )
}

test('at most 500 pools are watched, in filters of the size the server accepts, read 100 accounts at a time', async (t) => {
  const pools = Array.from({ length: 600 }, (_, at) => aPool(at))
  const accounts = new Map(pools.flatMap((pool) => [...pool.accounts]))
  const calls: [number, number | undefined][] = []
  const requests: SubscribeRequest[] = []
  const opened = createBell()
  let stream: UpdateStreamOptions | null = null
  const watch = new PoolWatch(
    { endpoint: 'http://stream.invalid', xToken: null },
    {
      rpc: {
        async getAccountsAt(addresses, minContextSlot) {
          calls.push([addresses.length, minContextSlot])
          return { slot: 7, accounts: addresses.map((address) => accounts.get(address) ?? null) }
        },
        close: () => {},
      },
      async openStream(options) {
        requests.push(options.request)
        if (requests.length === 1) return { kind: 'too_many_addresses', most: 400 }
        stream = options
        opened.ring()
        return { send: (request) => requests.push(request), close: () => {} }
      },
      logger: createLogger('silent'),
      metrics: createPoolMetrics(createRegistry()),
      onBug: (error) => t.fail(String(error)),
    },
  )
  t.teardown(() => watch.stop())
  watch.watch([{ mint: 'no address', pool: '' }, ...pools])
  await opened.next()
  const filters = (request: SubscribeRequest) =>
    Object.values(request.accounts).map(({ account }) => account.length)
  t.deepEqual(requests.map(filters), [[1500], [400, 400, 400, 300]])
  t.deepEqual(
    calls,
    Array.from({ length: 5 }, () => [100, undefined]),
  )
  const last = pools[499]!
  for (const slot of [8, 9]) {
    t.is(watch.newest(last.mint), undefined)
    await new Promise(setImmediate)
    stream!.onUpdate(aStatus(slot))
  }
  while (watch.newest(last.mint) === undefined) await new Promise(setImmediate)
  t.deepEqual(
    calls.slice(5),
    Array.from({ length: 15 }, () => [100, 9]),
  )
  t.deepEqual(watch.newest(last.mint), {
    mint: last.mint,
    pool: last.pool,
    slot: 7,
    quoteMint: WSOL,
    quoteReserve: 499n,
    price: { quote: 499n, base: 1000n },
  })
  t.is(watch.newest(pools[500]!.mint), undefined)
})

test('a pool and its vaults change together when their slot is confirmed; older updates are ignored', (t) => {
  const kinds: string[] = []
  const snapshots = new PoolSnapshots((kind) => kinds.push(kind))
  const { mint, pool, vaults, accounts } = aPool(5)
  const keyOf = (address: Address) => Buffer.from(addressBytes(address)).toString('latin1')
  const addUpdate = (address: Address, slot: number, amount: bigint, writeVersion = 0) => {
    const { owner, data } = aVault(address === vaults[0] ? mint : WSOL, amount)
    snapshots.addUpdate(keyOf(address), { slot, writeVersion, owner, data })
  }
  const price = () => {
    const state = snapshots.newest(mint)
    return state && [state.slot, state.price.quote, state.price.base]
  }
  t.true(
    snapshots.replace([
      { mint, pool },
      { mint, pool: mint },
    ]),
  )
  t.false(snapshots.replace([{ mint, pool }]))
  t.deepEqual(snapshots.unread(), [pool])
  t.deepEqual(snapshots.subscribed(), [])
  snapshots.applyRead(pool, { slot: 10, ...accounts.get(pool)! })
  snapshots.updateAccounts()
  t.deepEqual(snapshots.subscribed(), [pool, ...vaults])
  t.deepEqual(snapshots.stale(), [...vaults])
  t.is(price(), undefined)
  for (const vault of vaults) snapshots.applyRead(vault, { slot: 10, ...accounts.get(vault)! })
  t.deepEqual(price(), [10, 5n, 1000n])
  t.deepEqual(snapshots.stale(), [])

  addUpdate(vaults[0], 12, 1001n)
  snapshots.confirm(11)
  t.deepEqual(price(), [10, 5n, 1000n])
  addUpdate(vaults[1], 12, 4n, 1)
  addUpdate(vaults[1], 12, 6n, 2)
  addUpdate(vaults[1], 12, 7n, 1)
  snapshots.confirm(12)
  t.deepEqual(price(), [12, 6n, 1001n])
  addUpdate(vaults[1], 11, 9n)
  addUpdate(vaults[1], 12, 9n, 1)
  snapshots.confirm(13)
  t.deepEqual(price(), [12, 6n, 1001n])

  // An account read over RPC at an older slot is ignored; at a later slot it replaces a pending
  // update.
  addUpdate(vaults[1], 15, 3n)
  snapshots.applyRead(vaults[1], { slot: 11, ...accounts.get(vaults[1])! })
  t.deepEqual(price(), [12, 6n, 1001n])
  snapshots.applyRead(vaults[1], { slot: 15, ...accounts.get(vaults[1])! })
  snapshots.confirm(15)
  t.deepEqual(price(), [15, 5n, 1001n])

  // A vault of another mint and a missing account give no state until a valid update comes.
  snapshots.addUpdate(keyOf(vaults[0]), { slot: 16, writeVersion: 0, ...aVault(WSOL, 8n) })
  snapshots.confirm(16)
  t.is(price(), undefined)
  addUpdate(vaults[0], 17, 8n)
  snapshots.addUpdate(keyOf(pool), { slot: 17, writeVersion: 0, owner: '', data: new Uint8Array() })
  snapshots.confirm(17)
  t.is(price(), undefined)
  t.deepEqual(snapshots.unread(), [pool])
  t.deepEqual(kinds, [
    ...['pool', 'vault', 'vault', 'vault', 'vault', 'vault', 'vault', 'vault', 'other'],
  ])
  t.true(snapshots.replace([]))
  t.deepEqual(snapshots.subscribed(), [])
})

const keyAt = (at: number): Address => {
  const bytes = Buffer.alloc(32, 3)
  bytes.writeUInt32BE(at)
  return addressFromBytes(bytes)
}

/** A Raydium AMM v4 pool with 1000 of its coin and `at` lamports. */
function aPool(at: number) {
  const [mint, pool, first, second] = [0, 1, 2, 3].map((part) => keyAt(at * 4 + part)) as [
    ...[Address, Address, Address, Address],
  ] // the array has four elements
  const data = Buffer.alloc(752)
  data.writeBigUInt64LE(6n)
  for (const [offset, key] of [
    [336, first],
    [368, second],
    [400, mint],
    [432, WSOL],
  ] as const)
    data.set(addressBytes(key), offset)
  const accounts = new Map<Address, { owner: string; data: Uint8Array }>([
    [pool, { owner: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', data }],
    [first, aVault(mint, 1000n)],
    [second, aVault(WSOL, BigInt(at))],
  ])
  return { mint, pool, vaults: [first, second] as const, accounts }
}

function aVault(mint: Address, amount: bigint) {
  const data = Buffer.alloc(165)
  data.set(addressBytes(mint))
  data.writeBigUInt64LE(amount, 64)
  data[108] = 1
  return { owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', data }
}

function aStatus(slot: number): Uint8Array {
  const update = { slot: { slot: String(slot), status: 1 } }
  // The generated type of a partial message does not accept literals.
  return SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
}

/** Creates a notifier that resolves all pending `next` promises. */
function createBell() {
  let waiting: (() => void)[] = []
  return {
    ring() {
      for (const wake of waiting.splice(0)) wake()
    },
    next: () =>
      new Promise<void>((resolve) => {
        waiting = [...waiting, resolve]
      }),
  }
}
