import test from 'ava'
import fc from 'fast-check'
import type { Address } from '../../pipeline/domain/address.ts'
import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import type { QueryParams, Store } from '../../pipeline/store/store.ts'
import type { SwapRow as Row } from '../../pipeline/store/tables/swaps.ts'
import { openTestStore, type TestStore } from '../../pipeline/testing/test-store.ts'
import { readNewestSwaps } from './newest-swaps.ts'

const small = (max: number) => fc.nat({ max })
const aRow: fc.Arbitrary<Row> = fc
  .tuple(small(9), small(1), fc.integer({ min: 1, max: 3 }), small(1), small(40), small(3))
  .map(([slot, tx_index, wallet, event_index, version, fate]) => ({
    slot: String(slot),
    tx_index,
    wallet,
    event_index,
    version: String(version),
    is_deleted: fate === 0 ? 1 : 0,
    block_time: version,
    side: 'buy',
    base_mint: 'mint',
    base_amount: '1',
    base_decimals: 0,
    quote_mint: null,
    quote_amount: '0',
    program: 'unknown',
    confidence: 'high' as const,
    quote_mismatch: true,
    value_lamports: null,
  }))
const aKey = fc.record(
  { slot: small(10), txIndex: small(1), wallet: small(3), eventIndex: small(1) },
  { noNullPrototype: true },
)

const keyOf = (row: Row): EventKey => ({
  slot: Number(row.slot),
  txIndex: row.tx_index,
  wallet: row.wallet,
  eventIndex: row.event_index,
})

/**
 * Answers like the table: rows up to a slot and before a key, by key descending, versions of a key
 * in any order.
 */
function table(rows: readonly Row[]): Store {
  const sorted = [...rows].sort((a, b) => compareEventKeys(keyOf(b), keyOf(a)))
  const answer = (params: QueryParams = {}) => {
    const { stored, slot, txIndex, wallet, eventIndex, limit } = params as Record<string, number>
    const before = slot === undefined ? null : ({ slot, txIndex, wallet, eventIndex } as EventKey)
    return sorted
      .filter((row) => Number(row.slot) <= (stored ?? 0))
      .filter((row) => before === null || compareEventKeys(keyOf(row), before) < 0)
      .slice(0, limit)
  }
  // Only `query` is called.
  return { query: async (_sql: string, params?: QueryParams) => answer(params) } as unknown as Store
}

test('of the rows of a key the newest version counts, for any number of rows and any page boundary', async (t) => {
  const rows = fc.uniqueArray(aRow, {
    maxLength: 300,
    size: 'max',
    selector: (row) => `${eventKeyText(keyOf(row))} ${row.version}`,
  })
  await fc.assert(
    fc.asyncProperty(
      rows,
      small(10),
      fc.option(aKey),
      fc.integer({ min: 1, max: 40 }),
      async (rows, stored, before, limit) => {
        const newest = new Map<string, Row>()
        for (const row of rows) {
          const known = newest.get(eventKeyText(keyOf(row)))
          if (known === undefined || Number(known.version) < Number(row.version))
            newest.set(eventKeyText(keyOf(row)), row)
        }
        const expected = [...newest.values()]
          .filter((row) => row.is_deleted === 0 && Number(row.slot) <= stored)
          .filter((row) => before === null || compareEventKeys(keyOf(row), before) < 0)
          .sort((a, b) => compareEventKeys(keyOf(b), keyOf(a)))
          .slice(0, limit)
        const swaps = await readNewestSwaps(table(rows), { stored }, before, limit)
        t.deepEqual(
          swaps.map((swap) => [eventKeyText(swap), swap.blockTime]),
          expected.map((row) => [eventKeyText(keyOf(row)), row.block_time]),
        )
      },
    ),
    { numRuns: 300 },
  )
})

let opened: Promise<TestStore> | undefined
/** One store for the tests that need one. Its parts are never merged. */
function shared(): Promise<TestStore> {
  opened ??= openTestStore().then(async (found) => {
    await migrate(found.store)
    await found.store.command('SYSTEM STOP MERGES swaps')
    return found
  })
  return opened
}
test.after.always(async () => (await opened)?.remove())

test.serial(
  'a page of a mint is right before any merge, also if a redecode changed the mint of a swap or deleted it',
  async (t) => {
    const { store } = await shared()
    const stored = fc
      .tuple(aRow, fc.constantFrom('mintA', 'mintB'), small(2))
      .map(([row, mint, block]) => ({
        ...row,
        base_mint: row.is_deleted === 1 && block === 2 ? '' : mint,
        block,
        signature: 's',
        program_id: 'p',
        confidence: 'high' as const,
        quote_mismatch: true,
        fee_lamports: 0,
        sol_price_usd_e9: null,
        value_lamports: null,
      }))
    const histories = fc.uniqueArray(stored, {
      minLength: 30,
      maxLength: 60,
      selector: (row) => `${eventKeyText(keyOf(row))} ${row.version}`,
    })
    await fc.assert(
      fc.asyncProperty(histories, fc.option(aKey), small(6), async (rows, before, limit) => {
        await store.command('TRUNCATE TABLE swaps')
        for (const block of [0, 1, 2])
          await store.insert(
            'swaps',
            rows.filter((row) => row.block === block).map(({ block: _, ...row }) => row),
          )
        const newest = new Map<string, (typeof rows)[number]>()
        for (const row of rows) {
          const known = newest.get(eventKeyText(keyOf(row)))
          if (known === undefined || Number(known.version) < Number(row.version))
            newest.set(eventKeyText(keyOf(row)), row)
        }
        for (const mint of ['mintA', 'mintB']) {
          const expected = [...newest.values()]
            .filter((row) => row.is_deleted === 0 && row.base_mint === mint)
            .filter((row) => before === null || compareEventKeys(keyOf(row), before) < 0)
            .sort((a, b) => compareEventKeys(keyOf(b), keyOf(a)))
            .slice(0, limit + 1)
          const filter = { mint: mint as Address }
          const of = { stored: 100, filter, wasRedecoded: true }
          const swaps = await readNewestSwaps(store, of, before, limit + 1)
          t.deepEqual(
            swaps.map((swap) => [eventKeyText(swap), swap.blockTime, swap.baseMint]),
            expected.map((row) => [eventKeyText(keyOf(row)), row.block_time, mint]),
          )
        }
      }),
      { numRuns: 12, endOnFailure: true },
    )
  },
)

test.serial(
  'a page of a mint, of a wallet, of a time and of all swaps read a few granules in order, not the table',
  async (t) => {
    const { store } = await shared()
    await store.command('TRUNCATE TABLE swaps')
    await store.command(`
    INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, program)
    SELECT number, 0, 1, 0, number, '', 'buy', concat('mint', toString(number % 100)), 1, 0, 'p' FROM numbers(50000)`)
    const plans: string[] = []
    const spy = {
      ...store,
      async query<T>(sql: string, params?: QueryParams) {
        const lines = await store.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, params)
        plans.push(lines.map(({ explain }) => explain).join('\n'))
        return store.query<T>(sql, params)
      },
    }
    const before = { slot: 40_000, txIndex: 0, wallet: 1, eventIndex: 0 }
    const filter = { mint: 'mint7' as Address }
    const of = { stored: 50_000, filter, wasRedecoded: true }
    const found = await readNewestSwaps(spy, of, before, 3)
    t.deepEqual(
      found.map(({ slot }) => slot),
      [39_907, 39_807, 39_707],
    )
    await readNewestSwaps(spy, { stored: 50_000 }, before, 3)
    await readNewestSwaps(spy, { stored: 50_000, filter: { wallet: 1 } }, before, 3)
    await readNewestSwaps(spy, { stored: 50_000, filter: { from: 5000, to: 6000 } }, null, 3)
    const [ofMint = '', corrected = '', ofAll = '', ofWallet = '', ofTime = ''] = plans
    t.regex(ofMint, /ReadFromMergeTree \(by_mint\)/)
    t.regex(ofMint, /Read type: InReverseOrder/)
    t.notRegex(corrected, /Granules: [1-9][0-9]*$/m)
    t.regex(ofAll, /Read type: InReverseOrder/)
    t.regex(ofWallet, /ReadFromMergeTree \(by_wallet\)/)
    t.regex(ofWallet, /Read type: InReverseOrder/)
    t.regex(ofTime, /Read type: InReverseOrder/)
    t.regex(ofTime, /Name: times[\s\S]*Granules: [1-9]\/49/)
  },
)
