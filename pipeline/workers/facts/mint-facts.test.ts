import test from 'ava'
import fc from 'fast-check'
import type { Coin } from '../../../infra/simulator/market/universe.ts'
import { startSimulator } from '../../../infra/simulator/simulator.ts'
import { type Address, addressFromBytes } from '../../domain/address.ts'
import type { Swap } from '../../domain/event.ts'
import { USDC, WSOL } from '../../domain/quote.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { metadataAddress } from '../../ingest/rpc/metadata-address.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import type { RpcAccount } from '../../ingest/rpc/solana-rpc.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { analystDatabase, migrate } from '../../store/migrate.ts'
import type { MintRow } from '../../store/tables/mints.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startFold } from '../fold/fold.ts'
import { createMintFactsMetrics } from '../telemetry.ts'
import { type MintFactsDeps, startMintFacts } from './mint-facts.ts'
import { ASK_AGAIN_AFTER, type MintAnswer, mintRow } from './mint-row.ts'

const logger = createLogger('silent')
const T = 1_750_000_000

let testStore: TestStore
test.before(async () => {
  testStore = await openTestStore()
  await migrate(testStore.store)
})
test.after.always(() => testStore.remove())
test.beforeEach(async () => {
  const { store } = testStore
  await emptyTables(store)
})

const newLog = () => createMemoryLog({ logger, registry: createRegistry() })
const mintOf = (n: number) => addressFromBytes(new Uint8Array(32).fill(n))
const stored = () =>
  testStore.store.query<Record<string, unknown>>(
    'SELECT * EXCEPT(version, inserted_at) FROM mints FINAL ORDER BY mint',
  )

/** Stores positions as the fold does: with swaps, and with transfers only. */
async function hold(traded: readonly Address[], received: readonly Address[] = []) {
  const row = (mint: Address, buys: number) => ({ wallet: 1, mint, decimals: 6, buys, version: 1 })
  await testStore.store.insert('positions', [
    ...traded.map((mint) => row(mint, 2)),
    ...received.map((mint) => row(mint, 0)),
  ])
}

/** Returns a mint account of the Token program. */
function mintAccount(supply: bigint, decimals: number): RpcAccount {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(1, 45)
  return { owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', data }
}

interface Hand {
  readonly accounts: Map<Address, RpcAccount>
  readonly calls: (readonly Address[])[]
  fail: (addresses: readonly Address[]) => ServiceError | null
}

/**
 * Starts a worker with a clock and an RPC server that the test controls. `settled` resolves when
 * the worker sleeps.
 */
function start(options: Partial<MintFactsDeps> = {}) {
  const hand: Hand = { accounts: new Map(), calls: [], fail: () => null }
  let time = T * 1000
  let sleeper: { readonly until: number; readonly end: () => void } | null = null
  let tellAsleep: (() => void) | null = null
  const facts = startMintFacts({
    store: testStore.store,
    log: newLog(),
    rpc: {
      async getMultipleAccounts(addresses) {
        hand.calls.push(addresses)
        const failure = hand.fail(addresses)
        if (failure) throw failure
        return addresses.map((one) => hand.accounts.get(one) ?? null)
      },
      close() {},
    },
    logger,
    metrics: createMintFactsMetrics(createRegistry()),
    now: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const end = () => {
          sleeper = null
          signal.removeEventListener('abort', end)
          resolve()
        }
        if (signal.aborted || ms <= 0) return resolve()
        signal.addEventListener('abort', end)
        sleeper = { until: time + ms, end }
        tellAsleep?.()
      }),
    onBug: (error) => {
      throw error
    },
    ...options,
  })
  const settled = async () => {
    while (sleeper === null) await new Promise<void>((resolve) => (tellAsleep = resolve))
  }
  return {
    facts,
    hand,
    settled,
    /** Advances the clock, and lets every wait on the way end at its time. */
    async pass(seconds: number) {
      const end = time + seconds * 1000
      for (;;) {
        await settled()
        const next = sleeper as { until: number; end: () => void } | null // set in a callback
        if (next === null) continue
        if (next.until > end) break
        time = next.until
        next.end()
      }
      time = end
    },
  }
}

test.serial(
  'traded mints are requested once, in one batch; mints that were only transferred never (J8, K6)',
  async (t) => {
    const [a, b, spam, absent] = [1, 2, 3, 4].map(mintOf) as [Address, Address, Address, Address]
    await hold([a, absent], [spam])
    const { facts, hand, pass, settled } = start()
    hand.accounts.set(a, mintAccount(10n ** 15n, 6))
    hand.accounts.set(b, mintAccount(2n ** 64n - 1n, 9))
    await settled()
    facts.note([b, a])
    await pass(1)
    t.deepEqual(hand.calls, [
      [a, absent, metadataAddress(a), metadataAddress(absent)],
      [b, metadataAddress(b)],
    ])
    const none = { symbol: '', name: '', metadata: 'none', asked: 1, ask_again_at: T + 5 }
    const classic = { token_program: 'spl_token', fetched_at: T }
    t.deepEqual(
      await stored(),
      [
        { mint: a, ...classic, decimals: 6, supply: '1000000000000000', ...none },
        { mint: b, ...classic, decimals: 9, supply: '18446744073709551615', ...none },
        {
          mint: absent,
          token_program: 'none',
          decimals: null,
          supply: null,
          ...none,
          fetched_at: null,
        },
      ].sort((x, y) => (x.mint < y.mint ? -1 : 1)),
    )
    facts.note([a, b, absent])
    await pass(3)
    t.is(hand.calls.length, 2)
    await facts.stop()
  },
)

test.serial(
  'readers of the log of states learn which facts were stored, also of a process that ended before it said so (K26)',
  async (t) => {
    const log = newLog()
    const announced: unknown[] = []
    await log.states.follow(async ({ records }) => {
      for (const { changes } of records) announced.push(...changes.map(({ row }) => row.mint))
    })
    const mints = [mintOf(1), mintOf(2)]
    const first = start({ log })
    first.facts.note(mints)
    await first.pass(1)
    await first.facts.stop()
    t.deepEqual(announced, mints)

    const second = start({ log })
    await second.settled()
    t.deepEqual(announced.slice(2).sort(), [...mints].sort())
    await second.facts.stop()
  },
)

test.serial(
  'missing facts are requested again a few times, after growing pauses; the first supply stays (C15)',
  async (t) => {
    const mint = mintOf(1)
    const { facts, hand, pass } = start()
    facts.note([mint])
    await pass(1)
    hand.accounts.set(mint, mintAccount(500n, 6))
    await pass(5)
    t.like(await stored(), [{ supply: '500', asked: 2, ask_again_at: T + 5 + 30 }])
    hand.accounts.set(mint, mintAccount(900n, 6))
    await pass(35 + 180 + 1080)
    t.is(hand.calls.length, 5)
    t.like(await stored(), [{ supply: '500', fetched_at: T + 5, asked: 5 }])
    await facts.stop()

    // A worker that starts later requests the mint no earlier.
    await hold([mint])
    const later = start()
    await later.pass(5000)
    t.deepEqual(later.hand.calls, [])
    await later.facts.stop()
  },
)

test.serial(
  'while RPC is down mints wait and none is lost, even over a restart; a server that accepts fewer accounts a call gets fewer',
  async (t) => {
    const mints = Array.from({ length: 60 }, (_, n) => mintOf(n + 1))
    await hold(mints.slice(0, 30))
    const { facts, hand, pass } = start()
    hand.fail = () => new ServiceError('unavailable', 'down', { retriable: true })
    await pass(100)
    facts.note(mints.slice(30))
    await pass(300)
    // The backoff pauses for 1, 2, 4, ... 60, 60 seconds.
    t.true(hand.calls.length > 5 && hand.calls.length < 15)
    await facts.stop()
    t.deepEqual(await stored(), [])

    await hold(mints)
    const next = start()
    for (const mint of mints) next.hand.accounts.set(mint, mintAccount(1n, 0))
    const refused = mints[7] as Address
    next.hand.fail = (requested) =>
      requested.length > 10 || requested.includes(refused)
        ? new ServiceError('unavailable', 'too many', { retriable: false })
        : null
    await next.pass(2000)
    t.is((await stored()).length, 59)
    next.hand.fail = () => null
    await next.pass(60)
    t.is((await stored()).length, 60)
    await next.facts.stop()
  },
)

test.serial('after a crash a mint is requested again if its row was not stored', async (t) => {
  const mint = mintOf(1)
  await hold([mint])
  const dying = { ...testStore.store, insert: () => new Promise<never>(() => {}) }
  const first = start({ store: dying })
  first.hand.accounts.set(mint, mintAccount(1n, 0))
  while (first.hand.calls.length === 0) await new Promise(setImmediate)
  t.deepEqual(await stored(), [])
  const second = start()
  second.hand.accounts.set(mint, mintAccount(2n, 0))
  await second.settled()
  t.like(await stored(), [{ mint, supply: '2' }])
  await second.facts.stop()
})

test.serial(
  "the simulator's coins get their facts over its RPC, though it answers 429 often",
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: 405_000_000 },
      trouble: { rateLimitedRpc: true, slowRpc: true },
    })
    const coins = simulator.market.universe.coins.slice(0, 120)
    await hold(coins.map(({ mint }) => mint.key.address))
    const metrics = createMintFactsMetrics(createRegistry())
    const rpc = createRpc({ url: simulator.rpcUrl, metrics })
    const { store } = testStore
    let left = coins.length
    await new Promise<void>((resolve, reject) => {
      const facts = startMintFacts({
        log: newLog(),
        rpc,
        logger,
        metrics,
        onBug: reject,
        store: {
          ...store,
          async insert(table, rows, options) {
            await store.insert(table, rows, options)
            left -= rows.length
            if (left === 0) setImmediate(() => resolve(facts.stop()))
          },
        },
      })
    })
    const expected = ({ mint, supply, symbol, name }: Coin) => {
      const isClassic = mint.program.address.startsWith('Tokenkeg')
      return {
        mint: mint.key.address,
        token_program: isClassic ? 'spl_token' : 'token_2022',
        decimals: mint.decimals,
        supply: String(supply),
        symbol,
        name,
        metadata: isClassic ? 'metaplex' : 'token_2022',
        asked: 1,
        ask_again_at: null,
      }
    }
    t.deepEqual(
      (await stored()).map(({ fetched_at, ...row }) => row),
      coins.map(expected).sort((a, b) => (a.mint < b.mint ? -1 : 1)),
    )
    await simulator.close()
  },
)

test.serial(
  'the market cap at a first buy is supply x price in USD, as soon as both are known (C15)',
  async (t) => {
    const { store } = testStore
    const mint = mintOf(9)
    const swapFields = {
      txIndex: 0,
      eventIndex: 0,
      signature: '1'.repeat(64),
      programId: mintOf(8),
      pool: null,
    }
    const buy = (wallet: number, slot: number, of: Partial<Swap>): Swap => ({
      kind: 'swap',
      side: 'buy',
      baseMint: mint,
      baseDecimals: 6,
      program: 'pumpswap',
      confidence: 'high',
      quoteMismatch: false,
      feeLamports: 0n,
      solPriceUsdE9: null,
      quoteMint: WSOL,
      quoteAmount: 10n ** 9n,
      baseAmount: 34_567_890_123n,
      ...swapFields,
      slot,
      wallet,
      blockTime: T + slot,
      ...of,
    })
    const records = [
      // 1 SOL of 150 USD for 34567.890123 of 1000000000 tokens: 150 x 10^9 / 34567.890123 =
      // 4339287.109113... USD
      buy(1, 1, { solPriceUsdE9: 150_000_000_000n }),
      buy(1, 2, { solPriceUsdE9: 1n, baseAmount: 1n }),
      // 30.000001 USDC at 149.999999999 are 200000006 lamports, for 5 tokens: 0.200000006 x
      // 149.999999999 / 5 x 10^9 = 6000000179.959999... USD
      buy(2, 1, {
        quoteMint: USDC,
        quoteAmount: 30_000_001n,
        baseAmount: 5_000_000n,
        solPriceUsdE9: 149_999_999_999n,
      }),
      // A first buy against another token never has a value, and the second buy does not count.
      buy(3, 1, { quoteMint: null, quoteAmount: 0n, quoteMismatch: true }),
      buy(3, 2, { solPriceUsdE9: 150_000_000_000n }),
    ]
    const log = createMemoryLog({ logger, registry: createRegistry() }, { partitions: 2 })
    const seen: Address[] = []
    await new Promise<void>((resolve, reject) => {
      const folding = startFold({
        store,
        log,
        logger,
        registry: createRegistry(),
        onBug: reject,
        onSwaps: (swaps) => {
          for (const swap of swaps) seen.push(swap.baseMint)
          if (seen.length === records.length)
            folding.then((fold) => fold.stop()).then(resolve, reject)
        },
      })
      const marker = {
        slot: 2,
        parent: 1,
        blockTime: T,
        solPrice: null,
        blockId: null,
        finalized: null,
      }
      void folding.then(() => log.appendSlot({ marker, records }))
    })
    await log.close()
    const caps = async () => {
      const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
      return store.query(
        `SELECT wallet, entry_mcap_usd_e6 FROM ${analystDatabase(own?.name ?? '')}.first_buys ORDER BY wallet`,
      )
    }
    const row = (wallet: string, entry_mcap_usd_e6: string | null) => ({
      wallet,
      entry_mcap_usd_e6,
    })
    t.deepEqual(await caps(), [row('W1', null), row('W2', null), row('W3', null)])

    const { facts, hand, settled } = start()
    hand.accounts.set(mint, mintAccount(10n ** 15n, 6))
    facts.note(seen)
    await settled()
    await facts.stop()
    t.deepEqual(await caps(), [
      row('W1', '4339287109113'),
      row('W2', '6000000179959999'),
      row('W3', null),
    ])
  },
)

const aMint = fc.option(
  fc.record({
    program: fc.constantFrom('spl_token' as const, 'token_2022' as const),
    decimals: fc.nat(12),
    supply: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    text: fc.constant(null),
  }),
)
const someText = fc.option(
  fc.record({ symbol: fc.constantFrom('', 'A', 'B'), name: fc.constant('N') }),
)

test('known facts never change, whatever later answers say; the row of the last answer counts, and of two first answers the earlier', (t) => {
  const answers = fc.array(fc.record({ mint: aMint, metaplex: someText }), {
    minLength: 1,
    maxLength: 9,
  })
  fc.assert(
    fc.property(answers, (history: MintAnswer[]) => {
      const mint = mintOf(1)
      let row: (MintRow & { readonly version: bigint }) | null = null
      history.forEach((answer, at) => {
        const next = mintRow(mint, row, answer, (T + at * 1000) * 1000)
        if (row?.supply != null) t.is(next.supply, row.supply)
        if (row && row.metadata !== 'none') t.is(next.symbol, row.symbol)
        t.true(row === null || next.version > row.version)
        t.is(next.asked, at + 1)
        if (next.supply !== null && next.metadata !== 'none') t.is(next.ask_again_at, null)
        else t.is(next.ask_again_at === null, at >= ASK_AGAIN_AFTER.length)
        row = next
      })
    }),
  )
  const answer = { mint: null, metaplex: null }
  const early = mintRow(mintOf(1), null, answer, T * 1000)
  const late = mintRow(mintOf(1), null, answer, T * 1000 + 1)
  t.true(early.version > late.version)
})
