import type { WatchlistItem } from '../../../items/watchlist.ts'
import { type Fact, FactGroup, fact } from '../data/fact-group.tsx'
import { type FormattedNumber, formatNumber, formatSol, formatUsd } from '../data/format.ts'
import { Duration, showUsd } from '../data/formatted.tsx'
import { MomentumText } from '../data/momentum-text.tsx'
import { currentAge, type ReceivedItem, TOKEN_STATES } from '../data/watchlist.ts'
import { Multiple } from './multiple.tsx'

/** Everything that is known of a listed token. Ages are as of `now` (unix seconds). */
export function TrendingDetails({ row, now }: { row: ReceivedItem; now: number }) {
  const { item } = row
  return (
    <div class="fact-groups">
      <FactGroup level="h2" title="Token" facts={tokenFacts(item)} />
      <FactGroup level="h2" title="Age" facts={ageFacts(row, now)} />
      <FactGroup level="h2" title="Entry market caps" facts={entryFacts(item)} />
      <FactGroup level="h2" title="Change in the last hour" facts={momentumFacts(item)} />
    </div>
  )
}

function tokenFacts(item: WatchlistItem): Fact[] {
  return [
    fact('Name', item.name === '' ? 'not known yet' : item.name),
    fact('Symbol', item.symbol === '' ? 'not known yet' : item.symbol),
    fact('Address', <code class="address">{item.mint}</code>),
    fact('State', item.state, TOKEN_STATES[item.state]?.description ?? ''),
    fact(
      'Leaving soon',
      item.near_evict ? 'yes' : 'no',
      'Only one wallet holds the token, or it was not traded for almost 24 hours',
    ),
  ]
}

function ageFacts(row: ReceivedItem, now: number): Fact[] {
  const age = (field: Parameters<typeof currentAge>[1]) => (
    <Duration seconds={currentAge(row, field, now)} />
  )
  return [
    fact('Since the first trade', age('age_seconds'), 'of a tracked wallet'),
    fact('Since its discovery', age('discovered_seconds'), 'the first buy of a second wallet'),
    fact(
      'Oldest position',
      row.item.wallets_holding === 0 ? 'no holders' : age('oldest_hold_seconds'),
    ),
    fact('Time on the list', age('watchlist_seconds')),
  ]
}

function entryFacts(item: WatchlistItem): Fact[] {
  return [
    fact('Mean', showUsd(item.avg_entry_mcap), 'at the holders’ first buys, weighted by SOL spent'),
    fact('Lowest', showUsd(item.band_min)),
    fact('Highest', showUsd(item.band_max)),
    fact('Multiple of entry', <Multiple of={item.multiple} />, 'market cap divided by the mean'),
  ]
}

function momentumFacts({ momentum }: WatchlistItem): Fact[] {
  const momentumFact = (
    name: string,
    { value, change_pct, trend }: (typeof momentum)[keyof typeof momentum],
    format: (value: number | null) => FormattedNumber,
    unit?: string,
  ): Fact => ({
    name,
    value: (
      <MomentumText
        value={format(value)}
        {...(unit !== undefined && value !== null && { unit })}
        changePct={change_pct}
        trend={trend}
      />
    ),
  })
  return [
    momentumFact('Market cap', momentum.mcap, formatUsd),
    momentumFact('Holders', momentum.holders, (value) => formatNumber(value, 0)),
    momentumFact('Volume, 1 h', momentum.volume1h, formatSol, 'SOL'),
    momentumFact('Liquidity', momentum.liquidity, formatSol, 'SOL'),
  ]
}
