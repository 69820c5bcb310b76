import test from 'ava'
import type { Swap } from '../../pipeline/domain/event.ts'
import { createPerturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
import { USDC } from '../../pipeline/domain/quote.ts'
import { withValue } from '../../pipeline/domain/swap-value.ts'
import { aSwap, BONK, served } from '../testing/a-swap.ts'
import { TradeItem, tradeItem } from './trade.ts'

test('a swap against SOL becomes a trade with its SOL amount (contract 2.2, rule C20)', (t) => {
  const item = tradeItem(served(aSwap({ wallet: 12, quoteAmount: 1_234_567_891n })))
  t.deepEqual(item, {
    block_time: 1_790_000_000,
    wallet: 'W12',
    side: 'buy',
    mint: BONK,
    token_amount: '123456789',
    decimals: 6,
    sol_amount: 1.234567891,
    quote_mint: 'So11111111111111111111111111111111111111112',
    quote_amount: '1234567891',
    program: 'pumpswap',
    sol_value: 1.234567891,
    price_sol: 0.0100000000081,
    symbol: null,
  })
  t.deepEqual(TradeItem.parse(item), item)
})

test('a trade has its value in SOL whatever its quote coin, and the price of one whole token (rule L3)', (t) => {
  const of = (fields: Partial<Swap>, symbol?: string) => {
    const item = tradeItem(served(aSwap({ baseAmount: 3n, baseDecimals: 1, ...fields })), symbol)
    return [item.sol_value, item.price_sol, item.symbol]
  }
  t.deepEqual(
    {
      sol: of({ quoteAmount: 600_000_000n }, 'Bonk'),
      // 30 USDC at 150 USD: 0.2 SOL for 0.3 tokens.
      usdc: of({ quoteMint: USDC, quoteAmount: 30_000_000n, solPriceUsdE9: 150_000_000_000n }),
      unpriced: of({ quoteMint: USDC, quoteAmount: 30_000_000n }),
      mismatch: of({ quoteMint: null, quoteAmount: 0n, quoteMismatch: true }),
      nothing: of({ quoteAmount: 600_000_000n, baseAmount: 0n }),
    },
    {
      sol: [0.6, 2, 'Bonk'],
      usdc: [0.2, 2 / 3, null],
      unpriced: [null, null, null],
      mismatch: [null, null, null],
      nothing: [0.6, null, null],
    },
  )
})

test('with a salt value and amount have one factor, so the price is the true one (rules I2, L3)', (t) => {
  const swap = withValue(aSwap({ baseAmount: 10n ** 12n, quoteAmount: 5n * 10n ** 12n }))
  const item = tradeItem(serveSwap(swap, createPerturb('a salt of a test')))
  t.not(item.sol_value, 5000)
  t.is(item.sol_value, item.sol_amount)
  t.is(item.price_sol, 0.005)
})

test('a trade with another quote coin, or none, has no SOL amount (rule B7)', (t) => {
  const { sol_amount, quote_mint, quote_amount } = tradeItem(
    served(aSwap({ quoteMint: USDC, quoteAmount: 5_000_000n, solPriceUsdE9: 150_000_000_000n })),
  )
  t.deepEqual([sol_amount, quote_mint, quote_amount], [0, USDC, '5000000'])
  const none = tradeItem(served(aSwap({ quoteMint: null, quoteAmount: 0n, quoteMismatch: true })))
  t.deepEqual([none.sol_amount, none.quote_mint, none.quote_amount], [0, null, '0'])
})

test('amounts of any size are exact, and a SOL amount is the nearest double', (t) => {
  const item = tradeItem(
    served(aSwap({ baseAmount: (1n << 128n) - 1n, quoteAmount: (1n << 64n) - 1n })),
  )
  t.is(item.token_amount, '340282366920938463463374607431768211455')
  t.is(item.quote_amount, '18446744073709551615')
  t.is(item.sol_amount, Number('18446744073.709551615'))
})
