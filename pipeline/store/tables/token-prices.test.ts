import test from 'ava'
import fc from 'fast-check'
import { eventKeyText } from '../../domain/event-key.ts'
import { fractionText } from '../../domain/fraction.ts'
import { createPerturb } from '../../domain/perturbation.ts'
import { USDC, USDT, WSOL } from '../../domain/quote.ts'
import { type SlowPriceInputs, type SlowSwap, slowTokenPrice } from '../../testing/slow-prices.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import type { QueryParams, Store } from '../store.ts'
import { insertPoolStates } from './pool-states.ts'
import { insertSolPrices } from './sol-prices.ts'
import { readTokenPrices, type TokenPrices, type TokenPricesOf } from './token-prices.ts'

let opened: TestStore
let store: Store
const TABLES = ['swaps', 'pool_states', 'sol_prices']

test.before(async () => {
  opened = await openTestStore()
  store = opened.store
  await migrate(store)
  for (const table of TABLES) await store.command(`SYSTEM STOP MERGES ${table}`)
})
test.beforeEach(async () => {
  for (const table of TABLES) await store.command(`TRUNCATE TABLE ${table}`)
})
test.after.always(() => opened.remove())

const DAY = 86_400
const NOW = 1_700_000_000
/** All rows up to slot 8 are behind the storage marker. */
const STORED = 8
const MINTS = ['mintA', 'mintB']
const OF: TokenPricesOf = {
  mints: MINTS,
  wallet: null,
  times: [NOW],
  stored: STORED,
  wasRedecoded: false,
  solPriceMaxAgeSeconds: 3600,
  perturb: null,
}

/** A version of a swap. */
type Version = SlowSwap & { readonly version: number; readonly is_deleted: number }

const aSwap: Version = {
  slot: 1,
  txIndex: 0,
  wallet: 2,
  eventIndex: 0,
  blockTime: NOW - 3600,
  mint: 'mintA',
  amount: 4n,
  value: 6n,
  confidence: 'high',
  version: 0,
  is_deleted: 0,
}

const insertSwaps = (versions: readonly Version[]) =>
  store.insert(
    'swaps',
    versions.map(
      ({ slot, txIndex, wallet, eventIndex, blockTime, mint, amount, value, ...rest }) => ({
        ...rest,
        slot,
        tx_index: txIndex,
        wallet,
        event_index: eventIndex,
        block_time: blockTime,
        signature: 's',
        side: 'buy',
        base_mint: mint,
        base_amount: amount,
        base_decimals: 6,
        quote_mint: WSOL,
        quote_amount: 1,
        program: 'p',
        program_id: 'p',
        quote_mismatch: value === null,
        fee_lamports: 0,
        sol_price_usd_e9: null,
        value_lamports: value,
      }),
    ),
  )

type Pool = SlowPriceInputs['pools'][number]
const insertPools = (pools: readonly Pool[]) =>
  insertPoolStates(
    store,
    pools.map((state) => ({ ...state, quoteReserve: 1n, slot: 1 })),
  )
const aPool: Pool = {
  at: NOW - 50,
  mint: 'mintA',
  pool: 'pool',
  quoteMint: WSOL,
  price: { quote: 3n, base: 7n },
}

/** The prices of all mints at all times, as text. */
function all(prices: TokenPrices, of: TokenPricesOf) {
  return of.times.map((time) => {
    prices.moveTo(time)
    return of.mints.map((mint) => {
      const found = prices.priceOf(mint)
      return found && `${fractionText(found.price)} ${found.source} ${found.time - NOW}`
    })
  })
}
const read = async (change: Partial<TokenPricesOf> = {}) => {
  const of = { ...OF, ...change }
  return all(await readTokenPrices(store, of), of)
}

test.serial("a wallet's own swaps do not value its position (rule L5)", async (t) => {
  const sol = 1_000_000_000n
  await insertSwaps([
    { ...aSwap, wallet: 2, amount: 1_000_000n, value: sol / 50n },
    { ...aSwap, wallet: 1, slot: 2, blockTime: NOW - 60, amount: 1_000_000n, value: 9n * sol },
  ])
  t.deepEqual(await read({ mints: ['mintA'], wallet: 1 }), [['20/1 swap -3600']])
  t.deepEqual(await read({ mints: ['mintA'] }), [['9000/1 swap -60']])
})

test.serial('a pool goes before a swap, unless it is not known or SOL has no price', async (t) => {
  await insertSwaps([aSwap])
  await insertPools([aPool])
  await insertPools([{ ...aPool, at: NOW - 40, quoteMint: USDC }])
  await insertPools([{ ...aPool, at: NOW - 30, pool: '', quoteMint: '', price: NOTHING }])
  const times = [NOW - 50, NOW - 40, NOW - 30]
  const ofSwap = ['3/2 swap -3600']
  t.deepEqual(await read({ mints: ['mintA'], times }), [['3/7 pool -50'], ofSwap, ofSwap])
  await insertSolPrices(store, 'pool', [{ time: NOW - 100, usdE9: 150_000_000_000n }])
  // 3/7 of 10^-6 USD at 150 USD is 3/7 of 1/150,000,000 SOL.
  const ofDollars = ['20/7 pool -40']
  t.deepEqual(await read({ mints: ['mintA'], times }), [['3/7 pool -50'], ofDollars, ofSwap])
})
const NOTHING = { quote: 0n, base: 0n }

test.serial('a swap gives a price for less than a day', async (t) => {
  await insertSwaps([{ ...aSwap, blockTime: NOW - DAY + 1 }])
  t.deepEqual(await read({ mints: ['mintA'], times: [NOW, NOW + 1] }), [
    [`3/2 swap ${1 - DAY}`],
    [null],
  ])
})

test.serial('with a salt the age of a price follows the served time (rule L13)', async (t) => {
  const perturb = createPerturb('salt')
  const earlier = perturb?.(aSwap).earlierSeconds ?? 0
  await insertSwaps([aSwap])
  const end = aSwap.blockTime - earlier + DAY
  t.deepEqual(await read({ mints: ['mintA'], times: [NOW, end - 1, end], perturb }), [
    [`3/2 swap ${-3600 - earlier}`],
    [`3/2 swap ${-3600 - earlier}`],
    [null],
  ])
})

const small = (max: number) => fc.nat({ max })
const aTime = fc.oneof(
  { weight: 3, arbitrary: small(30).map((n) => NOW - n) },
  small(20).map((n) => NOW - DAY + 10 - n),
  small(20).map((n) => NOW - 5 * DAY - n),
)
const aVersion: fc.Arbitrary<Version> = fc.record(
  {
    slot: fc.integer({ min: 1, max: 10 }),
    txIndex: small(1),
    wallet: fc.integer({ min: 1, max: 3 }),
    eventIndex: small(1),
    blockTime: aTime,
    mint: fc.constantFrom(...MINTS, 'mintC'),
    amount: fc.constantFrom(0n, 1n, 5n, 6n, 7n),
    value: fc.constantFrom(null, 0n, 2n, 3n, 10n ** 12n),
    confidence: fc.constantFrom('high', 'high', 'delta_only'),
    version: small(40),
    is_deleted: fc.constantFrom(0, 0, 0, 1),
  },
  { noNullPrototype: true },
)
const someVersions = fc.uniqueArray(aVersion, {
  minLength: 20,
  maxLength: 60,
  selector: (row) => `${eventKeyText(row)} ${row.version}`,
})
const aPoolState: fc.Arbitrary<Pool> = fc.record(
  {
    at: aTime,
    mint: fc.constantFrom(...MINTS),
    pool: fc.constantFrom('', 'pool', 'pool', 'other'),
    quoteMint: fc.constantFrom(WSOL, WSOL, USDC, USDT, 'another'),
    price: fc.record(
      { quote: fc.constantFrom(0n, 3n, 2n ** 200n), base: fc.constantFrom(0n, 5n, 2n ** 199n) },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
)
const somePools = fc.uniqueArray(aPoolState, {
  maxLength: 12,
  selector: ({ at, mint }) => `${at} ${mint}`,
})
const somePrices = fc.uniqueArray(
  fc.record({ time: aTime, usdE9: fc.constantFrom(1n, 150_000_000_001n) }),
  { maxLength: 4, selector: ({ time }) => time },
)
const someTimes = fc
  .uniqueArray(
    fc.oneof(
      aTime,
      small(9).map((n) => NOW - 4 * DAY + n),
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((times) => times.sort((a, b) => a - b))

/** The swaps that count, of all versions. */
function newestOf(versions: readonly Version[]): Version[] {
  return versions.filter(
    (row) =>
      row.is_deleted === 0 &&
      row.slot <= STORED &&
      versions.every(
        (other) => eventKeyText(other) !== eventKeyText(row) || other.version <= row.version,
      ),
  )
}

test.serial(
  'prices at many times are those of a slow reference, also after a redecode moved swaps',
  async (t) => {
    const seen = { pool: 0, swap: 0, none: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(someVersions, somePools, somePrices),
        someTimes,
        fc.option(fc.integer({ min: 1, max: 3 })),
        async ([versions, pools, solPrices], times, wallet) => {
          for (const table of TABLES) await store.command(`TRUNCATE TABLE ${table}`)
          for (const some of [versions.slice(0, 20), versions.slice(20)]) await insertSwaps(some)
          for (const some of [pools.slice(0, 5), pools.slice(5)]) await insertPools(some)
          await insertSolPrices(store, 'file', solPrices)
          const inputs = {
            swaps: newestOf(versions),
            pools,
            solPrices,
            solPriceMaxAgeSeconds: OF.solPriceMaxAgeSeconds,
          }
          const expected = times.map((time) =>
            MINTS.map((mint) => {
              const found = slowTokenPrice(inputs, mint, wallet, time)
              seen[found?.source ?? 'none']++
              return found && `${found.price} ${found.source} ${found.time - NOW}`
            }),
          )
          t.deepEqual(await read({ wallet, times, wasRedecoded: true }), expected)
          // Where no version changed mint or time, it need not be told of a redecode.
          const isPlain = versions.every(({ version }) => version === 0)
          if (isPlain) t.deepEqual(await read({ wallet, times }), expected)
        },
      ),
      { numRuns: 60, endOnFailure: true },
    )
    t.log(`${seen.pool} prices of pools, ${seen.swap} of swaps, ${seen.none} unknown`)
    t.true(seen.pool > 20 && seen.swap > 20 && seen.none > 20)
  },
)

test.serial('prices are read from the projections by mint', async (t) => {
  await store.command(`
    INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, program, value_lamports)
    SELECT 1, number, 1, 0, ${NOW - 5}, '', 'buy', concat('mint', toString(number % 100)), 1, 0, 'p', 2 FROM numbers(50000)`)
  await store.command(`
    INSERT INTO pool_states (at, mint, pool, slot, quote_mint, quote_reserve, price_quote, price_base)
    SELECT ${NOW} - 10 * intDiv(number, 100), concat('mint', toString(number % 100)), 'pool', 1, '${WSOL}', 1, 1, 1 FROM numbers(200000)`)
  const plans: string[] = []
  const spy = {
    ...store,
    async query<T>(sql: string, params?: QueryParams) {
      const lines = await store.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, params)
      plans.push(lines.map(({ explain }) => explain).join('\n'))
      return store.query<T>(sql, params)
    },
  }
  const of = { ...OF, mints: ['mint7'] }
  t.deepEqual(all(await readTokenPrices(spy, of), of), [['1/1 pool 0']])
  const [pools = '', swaps = ''] = plans
  t.regex(pools, /ReadFromMergeTree \(by_mint\)/)
  t.notRegex(pools, /ReadFromMergeTree \((?!by_mint)/)
  t.regex(swaps, /ReadFromMergeTree \(by_mint\)/)
  t.notRegex(swaps, /ReadFromMergeTree \((?!by_mint)/)
})
