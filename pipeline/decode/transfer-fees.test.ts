import { Keypair } from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { address, addressFromBytes } from '../domain/address.ts'
import type { Transaction } from '../domain/transaction.ts'
import { createWallets } from '../domain/wallets.ts'
import { Token2022Chain } from '../testing/token-2022-chain.ts'
import { createDecoder } from './decoder.ts'
import { anchorDiscriminator } from './program.ts'

const PUMPSWAP = address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
const BUY = anchorDiscriminator('buy')
const UNKNOWN = address('Vote111111111111111111111111111111111111111')

/**
 * A chain with a wallet `w` and a pool, each with an account of a mint that withholds 2.5%
 * (`feeBps`), at most `maximumFee`.
 */
function market(feeBps = 250, maximumFee = 1_000_000_000n) {
  const chain = new Token2022Chain(feeBps, maximumFee)
  const w = Keypair.generate()
  const pool = Keypair.generate()
  const own = chain.open(w.publicKey, 1_000_000n)
  const reserve = chain.open(pool.publicKey, 1_000_000_000n)
  const lamports = chain.sol(chain.payer.publicKey, w.publicKey, 1_000_000_000)
  chain.execute(UNKNOWN, new Uint8Array(), [lamports])
  chain.execute(UNKNOWN, new Uint8Array(), [
    chain.sol(chain.payer.publicKey, pool.publicKey, 1_000_000_000),
  ])
  return { chain, w, pool, own, reserve }
}

function events(tx: Transaction, wallet: Keypair) {
  const wallets = createWallets([addressFromBytes(wallet.publicKey.toBytes())])
  const result = createDecoder(wallets).decode(tx, 0)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.flatMap((record) => {
    if (record.kind === 'swap')
      return { side: record.side, base: record.baseAmount, quote: record.quoteAmount }
    return record.kind === 'token_transfer'
      ? { direction: record.direction, amount: record.amount }
      : []
  })
}

test('a buy of a mint with a transfer fee has the amount after the fee (B5)', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const before = chain.amountOf(own)
  const swap = [
    chain.sol(w.publicKey, pool.publicKey, 500_000),
    chain.transfer(reserve, own, pool.publicKey, 10_001n),
  ]
  const tx = chain.execute(PUMPSWAP, BUY, swap, w, pool)
  t.is(chain.amountOf(own) - before, 9_750n)
  t.deepEqual(events(tx, w), [{ side: 'buy', base: 9_750n, quote: 500_000n }])
})

test('a sell of a mint with a transfer fee has the whole amount that left, before the fee (B5)', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const swap = [
    chain.transfer(own, reserve, w.publicKey, 10_001n),
    chain.sol(pool.publicKey, w.publicKey, 500_000),
  ]
  const tx = chain.execute(PUMPSWAP, BUY, swap, w, pool)
  t.deepEqual(events(tx, w), [{ side: 'sell', base: 10_001n, quote: 500_000n }])
  t.deepEqual(events(tx, pool), [{ side: 'buy', base: 9_750n, quote: 500_000n }])
})

test('a fee that the instruction states is used as stated', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const swap = [
    chain.sol(w.publicKey, pool.publicKey, 7),
    chain.transferWithFee(reserve, own, pool.publicKey, 10_001n, 251n),
  ]
  t.deepEqual(events(chain.execute(PUMPSWAP, BUY, swap, w, pool), w), [
    { side: 'buy', base: 9_750n, quote: 7n },
  ])
})

test('the fee is at most the maximum of the mint', (t) => {
  const { chain, w, pool, own, reserve } = market(250, 100n)
  const swap = [
    chain.sol(w.publicKey, pool.publicKey, 7),
    chain.transfer(reserve, own, pool.publicKey, 10_001n),
  ]
  t.deepEqual(events(chain.execute(PUMPSWAP, BUY, swap, w, pool), w), [
    { side: 'buy', base: 9_901n, quote: 7n },
  ])
})

test('a transfer in has the amount that arrived, and a move between own accounts costs its fee (B12)', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const second = chain.open(w.publicKey, 0n)
  const received = chain.execute(
    UNKNOWN,
    BUY,
    [chain.transfer(reserve, own, pool.publicKey, 999n)],
    pool,
  )
  t.deepEqual(events(received, w), [{ direction: 'in', amount: 974n }])
  t.deepEqual(events(received, pool), [{ direction: 'out', amount: 999n }])
  const moved = chain.execute(UNKNOWN, BUY, [chain.transfer(own, second, w.publicKey, 1000n)], w)
  t.deepEqual(events(moved, w), [{ direction: 'out', amount: 25n }])
})

test('each of several transfers to one account is reduced by its own fee', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const amounts = fc.array(fc.bigInt(1n, 1_000_000n), { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(amounts, (list) => {
      const transfers = list.map((amount) => chain.transfer(reserve, own, pool.publicKey, amount))
      const pay = chain.sol(w.publicKey, pool.publicKey, 9)
      const tx = chain.execute(PUMPSWAP, BUY, [pay, ...transfers], w, pool)
      const expected = list.reduce(
        (sum, amount) => sum + amount - (amount * 250n + 9_999n) / 10_000n,
        0n,
      )
      // Where fees take everything, nothing arrived, so there is no swap (rule B6).
      const buys = expected === 0n ? [] : [{ side: 'buy', base: expected, quote: 9n }]
      t.deepEqual(events(tx, w), buys)
    }),
    { numRuns: 40, examples: [[[1n, 1n]]] },
  )
})

test('two swaps into one account are each reduced by their own fee', (t) => {
  const { chain, w, pool, own, reserve } = market()
  const tx = chain.execute(
    PUMPSWAP,
    BUY,
    [10_001n, 77n].flatMap((amount) => [
      chain.sol(w.publicKey, pool.publicKey, 9),
      chain.transfer(reserve, own, pool.publicKey, amount),
    ]),
    w,
    pool,
  )
  const [call, ...called] = tx.instructions
  const instructions = [call!, ...called.slice(0, 2), call!, ...called.slice(2)]
  t.deepEqual(events({ ...tx, instructions }, w), [
    { side: 'buy', base: 9_750n, quote: 9n },
    { side: 'buy', base: 75n, quote: 9n },
  ])
})
