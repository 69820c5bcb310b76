import test from 'ava'
import { swapValue } from '../items/fields.ts'
import { EXAMPLE_TRADE, TradeItem } from '../items/trade.ts'
import { isSameTrade, LASTING_FIELDS } from './same-trade.ts'

test('a trade is the same before and after its value, price and symbol are filled in', (t) => {
  const sent = { ...EXAMPLE_TRADE, sol_value: null, price_sol: null, symbol: null }
  t.true(isSameTrade(sent, EXAMPLE_TRADE))
})

test('trades that differ in a field of their transaction are not the same', (t) => {
  const others = LASTING_FIELDS.map((field) => ({ ...EXAMPLE_TRADE, [field]: 'another' }))
  t.deepEqual(
    others.filter((other) => isSameTrade(other as TradeItem, EXAMPLE_TRADE)),
    [],
  )
})

test('every field of a trade is compared, but those that are filled in later', (t) => {
  const all = Object.keys(TradeItem.shape)
  t.deepEqual(
    all.filter((field) => !(field in swapValue)),
    [...LASTING_FIELDS],
  )
})
