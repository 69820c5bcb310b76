import test from 'ava'
import { addNewest, createLot } from './fifo.ts'
import type { FoldEvent } from './fold-event.ts'
import type { ProfitHour } from './profit-hours.ts'
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts'
import { createTradeSums } from './trade-sums.ts'
import { createTokenState, createWalletState } from './wallet-state.ts'

/** Sets every number, bigint and null of an object to a distinct value. */
function fill<T extends object>(target: T, kept: readonly string[]): T {
  let value = 1000
  for (const [key, current] of Object.entries(target)) {
    value += 1
    if (kept.includes(key)) continue
    if (typeof current === 'bigint') Object.assign(target, { [key]: BigInt(value) })
    else if (typeof current === 'number' || current === null)
      Object.assign(target, { [key]: value })
  }
  return target
}

const BUY: FoldEvent = {
  slot: 1,
  txIndex: 2,
  eventIndex: 3,
  blockTime: 4,
  kind: 'buy',
  mint: 'mint',
  decimals: 6,
  amount: 7n,
  value: 8n,
  solPriceUsdE9: null,
}
const CLEAN = { dirty: false }

const anHour = (hour: number): ProfitHour => ({
  hour,
  trades: 3,
  valuedSells: 2,
  volume: 10n ** 25n,
  realized: -5n,
  strictRealized: 6n,
  dirty: false,
})

test('a snapshot keeps every field of a wallet and of its positions', (t) => {
  const state = fill(createWalletState(7, 3), ['balance'])
  state.balance = 12_345n
  state.hours[5] = 9
  const kept = ['oldest', 'newest', 'served', 'servedLots', 'strictLots', 'lastTradeTime']
  const token = fill(createTokenState('mint', 6), kept)
  token.served = fill(createTradeSums(), [])
  token.lastTradeTime = 7215
  token.servedLots = { oldest: null, newest: null }
  token.strictLots = { oldest: null, newest: null }
  addNewest(token.servedLots, fill(createLot(BUY, 'buy', 5n), ['next']))
  addNewest(token.strictLots, fill(createLot(BUY, 'transfer', 6n), ['next']))
  for (const lots of [token.servedLots, token.strictLots]) Object.assign(lots.oldest ?? {}, CLEAN)
  token.profitHours = [anHour(3600), anHour(7200)]
  state.tokens.set(token.mint, token)
  t.deepEqual(decodeSnapshot(encodeSnapshot(state)), state)
})

test('a snapshot leaves out an hour that no event can join any more', (t) => {
  const state = createWalletState(7)
  const token = createTokenState('mint', 6)
  token.lastTradeTime = 7216
  token.profitHours = [anHour(3600), anHour(7200)]
  state.tokens.set(token.mint, token)
  const decoded = decodeSnapshot(encodeSnapshot(state)).tokens.get('mint')
  t.deepEqual(decoded?.profitHours, [anHour(7200)])
})
