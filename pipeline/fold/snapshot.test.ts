import test from 'ava'
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

test('a snapshot keeps every field of a wallet and of its positions', (t) => {
  const state = fill(createWalletState(7, 3), ['balance'])
  state.balance = 12_345n
  state.hours[5] = 9
  const token = fill(createTokenState('mint', 6), ['oldest', 'newest', 'served'])
  token.served = fill(createTradeSums(), [])
  state.tokens.set(token.mint, token)
  t.deepEqual(decodeSnapshot(encodeSnapshot(state)), state)
})
