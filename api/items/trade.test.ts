import test from 'ava'
import { USDC } from '../../pipeline/domain/quote.ts'
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
  })
  t.deepEqual(TradeItem.parse(item), item)
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
