import type { TokenItem } from '../../../items/token.ts'
import { type Fact, FactGroup, fact } from '../data/fact-group.tsx'
import { formatDuration, formatPrice } from '../data/format.ts'
import {
  FormattedText,
  showCount,
  showPercent,
  showSol,
  showUsd,
  TimeAgo,
  TokenAmount,
} from '../data/formatted.tsx'

/** What a token is, what it is worth, and what tracked wallets do with it. */
export function TokenFactGroups({ token }: { readonly token: TokenItem }) {
  const { name, symbol, supply, decimals } = token.token
  return (
    <div class="fact-groups">
      <FactGroup title="Price" facts={priceFacts(token)} />
      <FactGroup
        title="Token"
        facts={[
          fact('Name', name ?? '–'),
          fact('Symbol', symbol ?? '–', 'as its creator chose it; several tokens may share it'),
          fact(
            'Supply',
            supply === null || decimals === null ? (
              '–'
            ) : (
              <TokenAmount raw={supply} decimals={decimals} />
            ),
          ),
        ]}
      />
      <FactGroup
        title="Tracked wallets"
        facts={[
          fact('Holders', showCount(token.holders), 'tracked wallets that hold it, by swaps only'),
          fact('Held', showPercent(token.holders_pct), 'what they hold of the supply'),
          fact('First buy', <TimeAgo unix={token.first_buy_at} />),
        ]}
      />
      <FactGroup title="Last hour" facts={activityFacts(token.last_1h)} />
      <FactGroup title="Last 24 hours" facts={activityFacts(token.last_24h)} />
    </div>
  )
}

function priceFacts(token: TokenItem): Fact[] {
  const { price_sol, price_usd, price_source, price_age_seconds, market_cap_usd } = token
  const source =
    price_age_seconds === null
      ? 'no pool and no swap of the last 24 hours tells it'
      : `from ${price_source === 'pool' ? 'its pool' : 'a swap of a tracked wallet'}, ${formatDuration(price_age_seconds).text} old`
  return [
    fact('In SOL', <FormattedText value={formatPrice(price_sol)} />, source),
    fact('In USD', <FormattedText value={formatPrice(price_usd)} />),
    fact('Market cap', showUsd(market_cap_usd), 'supply times price'),
  ]
}

function activityFacts({ buys, sells, volume_sol, wallets }: TokenItem['last_1h']): Fact[] {
  return [
    fact('Buys', showCount(buys)),
    fact('Sells', showCount(sells)),
    fact('Volume', showSol(volume_sol)),
    fact('Wallets', showCount(wallets)),
  ]
}
