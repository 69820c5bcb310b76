import test from 'ava'
import fc from 'fast-check'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { walletHoldingItem } from '../items/holding.ts'
import { WalletHoldingsText } from '../items/wallet-holdings-text.ts'
import type { StoredSlot } from '../state-reader.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { readHeldTokens, readHoldings } from '../testing/positions-by-query.ts'
import { aPositionRow, MINT } from '../testing/rows.ts'
import { followStates, type StateWriter } from '../testing/state-writer.ts'
import { OpenPositions } from './open-positions.ts'

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

async function empty(): Promise<void> {
  for (const table of ['positions', 'progress']) await store.command(`TRUNCATE TABLE ${table}`)
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
      await empty()
      const versions = new Map<number, bigint>()
      const write = async (to: Pick<StateWriter, 'insert'>, writes: typeof first) => {
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
        await to.insert('positions', rows)
      }
      await write(store, first)
      const open = new OpenPositions()
      const { writer, moveTo } = await followStates(store, open)
      for (const [at, writes] of [[], ...more].entries()) {
        await write(writer, writes)
        const stored = await moveTo(1 + at, 10 + 5 * at)
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
          t.deepEqual(found, plain(await readHoldings(store, stored, filter, page)))
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
    await empty()
    const [a = '', b = '', c = ''] = MINTS
    const open = new OpenPositions()
    const { writer, moveTo } = await followStates(store, open)
    const texts = new WalletHoldingsText(open, 1_000_000)
    const write = async (wallet: number, mint: string, version: number) => {
      const bought = { bought_amount: String(1000 * version), bought_lamports: '1' }
      const times = { first_trade_time: 1, last_trade_time: version }
      await writer.insert('positions', [
        aPositionRow(wallet, mint, { ...bought, ...times, version: String(version) }),
      ])
    }
    const isRendered = async (stored: StoredSlot) => {
      const filter = { wallet: 2, minSeconds: 0, maxSeconds: null }
      const { rows } = await readHoldings(store, stored, filter, { offset: 0, limit: 9 })
      const tokens = rows.map((row) => walletHoldingItem(row, stored.blockTime))
      const { bytes } = texts.render(2, stored.blockTime)
      t.deepEqual(JSON.parse(bytes.toString()), { wallet: 'W2', tokens })
    }
    await write(2, a, 1)
    await write(2, b, 1)
    await isRendered(await moveTo(10, 10))
    await isRendered(await moveTo(11, 11))
    await write(2, a, 2)
    await moveTo(12, 12)
    await write(2, b, 3) // reuses the row of the first position
    await isRendered(await moveTo(13, 13))
    await write(1, c, 4)
    await write(2, c, 5)
    await isRendered(await moveTo(14, 14))
  },
)
