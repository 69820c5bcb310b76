import test from 'ava'
import fc from 'fast-check'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { PositionTable } from './position-table.ts'

const u32 = fc.nat({ max: 2 ** 32 - 1 })
const amount = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map(String)
const lamports = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }).map(String)
const aPosition: fc.Arbitrary<HeldPositionRow> = fc.record({
  wallet: fc.oneof(u32, fc.nat({ max: 3 })),
  mint: fc.constantFrom('A', 'B', 'C', 'DD'),
  decimals: fc.nat({ max: 255 }),
  bought_amount: amount,
  sold_amount: amount,
  bought_lamports: lamports,
  sold_lamports: lamports,
  first_trade_time: u32,
  last_trade_time: fc.oneof(u32, fc.nat({ max: 2 })),
})
/** A step adds a position, or removes the one added the given number of steps before. */
const steps = fc.array(fc.oneof(aPosition, aPosition, fc.nat({ max: 9 })), { maxLength: 60 })

test('a position keeps its row and its values while others are added and removed', (t) => {
  fc.assert(
    fc.property(steps, fc.constantFrom(0, 2000), (some, before) => {
      const table = new PositionTable()
      const there = new Map<number, HeldPositionRow>()
      const add = (position: HeldPositionRow) => {
        const rowIndex = table.add(position, 1)
        t.false(there.has(rowIndex))
        there.set(rowIndex, position)
      }
      const [filler] = some.filter((step) => typeof step !== 'number')
      for (let n = 0; n < before && filler; n++) add({ ...filler, mint: `M${n % 700}` })
      for (const step of some) {
        if (typeof step !== 'number') add(step)
        else {
          const rowIndex = [...there.keys()].at(-1 - step)
          if (rowIndex === undefined) continue
          table.remove(rowIndex)
          there.delete(rowIndex)
        }
      }
      t.is(table.size, there.size)
      for (const [rowIndex, position] of there) {
        t.deepEqual(table.row(rowIndex), position)
        t.is(table.wallet(rowIndex), position.wallet)
        t.is(table.firstTradeTime(rowIndex), position.first_trade_time)
        t.is(table.held(rowIndex), BigInt(position.bought_amount) - BigInt(position.sold_amount))
      }
      const rowIndexes = [...there.keys()].slice(-12)
      const sorted = [...rowIndexes].sort((a, b) => table.compare(a, b))
      const expected = rowIndexes
        .map((rowIndex) => there.get(rowIndex) as HeldPositionRow)
        .sort(
          (a, b) =>
            b.last_trade_time - a.last_trade_time ||
            (a.mint < b.mint ? -1 : a.mint > b.mint ? 1 : 0) ||
            a.wallet - b.wallet,
        )
      t.deepEqual(
        sorted
          .map((rowIndex) => table.row(rowIndex))
          .map(({ wallet, mint, last_trade_time }) => [wallet, mint, last_trade_time]),
        expected.map(({ wallet, mint, last_trade_time }) => [wallet, mint, last_trade_time]),
      )
    }),
    { numRuns: 60 },
  )
})
