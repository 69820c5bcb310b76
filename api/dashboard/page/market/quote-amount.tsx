import { TokenAmount } from '../data/formatted.tsx'
import { QUOTE_COINS } from '../data/quote-coins.ts'

/** What a trade was paid with: an amount of SOL, USDC or USDT, or “another token”. */
export function QuoteAmount({ mint, raw }: { mint: string | null; raw: string }) {
  const coin = mint === null ? undefined : QUOTE_COINS[mint]
  return coin === undefined ? (
    <span title="A trade of one token for another, without SOL, USDC or USDT">another token</span>
  ) : (
    <TokenAmount raw={raw} decimals={coin.decimals} unit={coin.name} />
  )
}
