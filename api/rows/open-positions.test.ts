import test from 'ava'
import fc from 'fast-check'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { readHeldTokens, readHoldings } from '../../pipeline/store/tables/positions.ts'
import { walletHoldingItem } from '../items/holding.ts'
import { WalletHoldingsText } from '../items/wallet-holdings-text.ts'
import type { StoredSlot } from '../storage-position.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aPositionRow, MINT } from '../testing/rows.ts'
import { OpenPositions } from './open-positions.ts'
import { type PositionChangeSet, PositionChanges } from './position-changes.ts'

/*
 * The read model of open positions across markers, over a real store.
 */

let opened: TestStore
let store: Store

test.before(async () => {
  opened = await openStore()
  store = opened.store
})
test.after.always(() => opened.remove())

/** Storage with a marker that the test moves. */
function aFollower(given: Store = store) {
  let stored: StoredSlot | null = { slot: 1, blockTime: 0 }
  let clock = 0
  const position = { stored: () => stored, beforeMove: () => {} }
  const changes = new PositionChanges({ store: given, position, now: () => clock })
  return {
    changes,
    position,
    async moveTo(blockTime: number): Promise<StoredSlot> {
      stored = { slot: (stored?.slot ?? 0) + 1, blockTime }
      clock += 400
      await changes.refresh()
      return stored
    },
  }
}

const MINTS = ['A', 'B', 'C', 'D'].map((letter) => MINT.slice(0, -1) + letter)
/** Fixed for each position; only a late trade changes it. */
const firstTrade = (wallet: number, mint: number) => 3 + wallet * 5 + mint * 4

const aWrite = fc.record({
  wallet: fc.integer({ min: 1, max: 4 }),
  mint: fc.nat({ max: MINTS.length - 1 }),
  bought: fc.nat({ max: 5 }),
  sold: fc.nat({ max: 5 }),
  spent: fc.nat({ max: 2 }),
  later: fc.nat({ max: 9 }),
  fate: fc.constantFrom('kept', 'kept', 'kept', 'kept', 'deleted', 'refolded'),
})
const steps = fc.array(fc.array(aWrite, { maxLength: 8 }), { minLength: 2, maxLength: 5 })

test.serial('the read model equals the tables, whatever is written between markers', async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, async ([first = [], ...more]) => {
      await store.command('TRUNCATE TABLE positions')
      const versions = new Map<number, bigint>()
      const write = async (writes: typeof first) => {
        const rows: Row[] = writes.map(({ wallet, mint, bought, sold, spent, later, fate }) => {
          const known = versions.get(wallet) ?? 0n
          const version = fate === 'refolded' ? ((known >> 32n) + 1n) << 32n : known + 1n
          versions.set(wallet, version)
          const time = firstTrade(wallet, mint)
          return aPositionRow(wallet, MINTS[mint] ?? '', {
            bought_amount: bought,
            sold_amount: sold,
            bought_lamports: spent,
            first_trade_time: time,
            last_trade_time: time + later,
            version,
            is_deleted: fate === 'deleted' ? 1 : 0,
          })
        })
        await store.insert('positions', rows)
      }
      const { changes, position, moveTo } = aFollower()
      const open = new OpenPositions({ store, changes, position })
      await write(first)
      await moveTo(8)
      await open.read()
      for (const [at, writes] of [[], ...more].entries()) {
        await write(writes)
        const stored = await moveTo(10 + 5 * at)
        t.true(await open.ready())
        for (const minWallets of [1, 2]) {
          const page = { minWallets, offset: 0, limit: 3 }
          t.deepEqual(open.held(page), plain(await readHeldTokens(store, stored, page)))
        }
        for (const filter of [
          { wallet: 2, minSeconds: 0, maxSeconds: null },
          { wallet: null, minSeconds: 0, maxSeconds: null },
          { wallet: null, minSeconds: 4, maxSeconds: 11 },
        ]) {
          const page = { offset: 1, limit: filter.minSeconds === 0 ? 100 : 4 }
          const found = open.holdings(stored.blockTime, filter, page)
          const rows = found.rows.map(({ ...row }) => ({ ...row, version: undefined }))
          const expected = plain(await readHoldings(store, stored, filter, page))
          t.deepEqual({ ...found, rows }, {
            ...expected,
            rows: expected.rows.map((row) => ({ ...row, version: undefined })),
          } as never)
        }
      }
    }),
    { numRuns: 16 },
  )
})

/** A page without the total in each row. */
function plain<T extends object>({ rows, total }: { rows: readonly T[]; total: number }) {
  return { rows: rows.map(({ ...row }) => without(row)), total }
}

function without<T extends object>(row: T): T {
  Reflect.deleteProperty(row, 'total')
  return row
}

test.serial(
  'an old rendering of a wallet is reused only for the same positions, not for others in the same rows',
  async (t) => {
    await store.command('TRUNCATE TABLE positions')
    const [a = '', b = '', c = ''] = MINTS
    const { changes, position, moveTo } = aFollower()
    const open = new OpenPositions({ store, changes, position })
    const texts = new WalletHoldingsText(1_000_000)
    const write = async (wallet: number, mint: string, version: number) => {
      const bought = { bought_amount: String(1000 * version), bought_lamports: '1' }
      const times = { first_trade_time: 1, last_trade_time: version }
      await store.insert('positions', [
        aPositionRow(wallet, mint, { ...bought, ...times, version: String(version) }),
      ])
    }
    const isRendered = async (stored: StoredSlot) => {
      const filter = { wallet: 2, minSeconds: 0, maxSeconds: null }
      const { rows } = await readHoldings(store, stored, filter, { offset: 0, limit: 9 })
      const tokens = rows.map((row) => walletHoldingItem(row, stored.blockTime))
      const { bytes } = texts.render(2, open.ofWallet(2), stored.blockTime)
      t.deepEqual(JSON.parse(bytes.toString()), { wallet: 'W2', tokens })
    }
    await write(2, a, 1)
    await write(2, b, 1)
    await moveTo(10)
    await open.read()
    await isRendered(await moveTo(11))
    await write(2, a, 2)
    await moveTo(12)
    await write(2, b, 3) // reuses the row of the first position
    const stored = await moveTo(13)
    t.true(await open.ready())
    await isRendered(stored)
    // After the table is read again, as after a burst, the first position is another one.
    await write(1, c, 4)
    await write(2, c, 5)
    const later = await moveTo(14)
    await open.read()
    await isRendered(later)
  },
)

test.serial(
  'with too many positions the model is not ready, and the store is queried',
  async (t) => {
    await store.command('TRUNCATE TABLE positions')
    await store.insert('positions', [aPositionRow(1, MINT), aPositionRow(2, MINT)])
    const { changes, position, moveTo } = aFollower()
    await moveTo(1_800_000_000)
    const open = new OpenPositions({ store, changes, position, most: 1 })
    await open.read()
    t.false(await open.ready())
    t.deepEqual(open.held({ minWallets: 1, offset: 0, limit: 9 }), { rows: [], total: 0 })
  },
)

test.serial('changes are reported once, and again until the marker has passed them', async (t) => {
  await store.command('TRUNCATE TABLE positions')
  let isAway = false
  const { changes, moveTo } = aFollower({
    ...store,
    query: (sql, params) => {
      if (isAway) throw new Error('away')
      return store.query(sql, params)
    },
  })
  const reported: string[][] = []
  changes.listen(({ mints }: PositionChangeSet) => reported.push([...(mints ?? [])].sort()))
  const [a = '', b = '', c = '', d = ''] = MINTS
  const at = (time: number) => ({ first_trade_time: time, last_trade_time: time })
  await store.insert('positions', [aPositionRow(1, a, at(1))])
  await moveTo(10)
  await moveTo(11)
  t.deepEqual(reported.splice(0), [[a]], 'written shortly before the first read')
  await moveTo(12)
  t.deepEqual(reported.splice(0), [])
  await store.insert('positions', [aPositionRow(1, b, at(5)), aPositionRow(2, c, at(14))])
  await moveTo(13)
  await moveTo(14)
  await moveTo(15)
  await moveTo(16)
  t.deepEqual(reported.splice(0), [[b, c], [c], [c]])
  await store.insert('mints', [
    {
      mint: d,
      token_program: 'spl_token',
      decimals: 6,
      supply: '1',
      symbol: '',
      name: '',
      metadata: 'none',
      fetched_at: 1,
      asked: 1,
      version: '1',
    },
  ])
  isAway = true
  await t.throwsAsync(moveTo(17))
  isAway = false
  await store.insert('positions', [aPositionRow(1, a, { ...at(2), version: '2' })])
  await moveTo(18)
  t.deepEqual(reported.splice(0), [[a, d].sort()])
})

test.serial(
  'of several versions between two markers the newest is reported, once, in any order of writes',
  async (t) => {
    await store.command('TRUNCATE TABLE positions')
    await store.command('TRUNCATE TABLE mints')
    const { changes, moveTo } = aFollower()
    const reported: [string, string[]][][] = []
    changes.listen(({ positions, mints }: PositionChangeSet) => {
      const versions = (mint: string) =>
        positions.filter((row) => row.mint === mint).map(({ version }) => version)
      reported.push([...(mints ?? [])].map((mint) => [mint, versions(mint)]))
    })
    const [a = '', b = ''] = MINTS
    await moveTo(10)
    for (const version of ['2', '3', '1']) {
      const times = { first_trade_time: 5, last_trade_time: 5 }
      await store.insert('positions', [aPositionRow(1, a, { ...times, version })])
      await store.insert('mints', [
        {
          mint: b,
          token_program: 'spl_token',
          decimals: 6,
          supply: '1',
          symbol: '',
          name: '',
          metadata: 'none',
          fetched_at: 1,
          asked: 1,
          version,
        },
      ])
    }
    await moveTo(11)
    await moveTo(12)
    t.deepEqual(reported, [
      [
        [a, ['3']],
        [b, []],
      ],
    ])
  },
)
