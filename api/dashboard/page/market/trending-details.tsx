import type { WatchlistItem } from '../../../items/watchlist.ts'
import { type Fact, FactGroup } from '../data/fact-group.tsx'
import { type FormattedNumber, formatNumber, formatSol, formatUsd } from '../data/format.ts'
import { Duration, FormattedText } from '../data/formatted.tsx'
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
    { name: 'Name', value: item.name === '' ? 'not known yet' : item.name },
    { name: 'Symbol', value: item.symbol === '' ? 'not known yet' : item.symbol },
    { name: 'Address', value: <code class="address">{item.mint}</code> },
    {
      name: 'State',
      value: item.state,
      description: TOKEN_STATES[item.state]?.description ?? '',
    },
    {
      name: 'Leaving soon',
      value: item.near_evict ? 'yes' : 'no',
      description: 'Only one wallet holds the token, or it was not traded for almost 24 hours',
    },
  ]
}

function ageFacts(row: ReceivedItem, now: number): Fact[] {
  const age = (field: Parameters<typeof currentAge>[1]) => (
    <Duration seconds={currentAge(row, field, now)} />
  )
  return [
    {
      name: 'Since the first trade',
      value: age('age_seconds'),
      description: 'of a tracked wallet',
    },
    {
      name: 'Since its discovery',
      value: age('discovered_seconds'),
      description: 'the first buy of a second wallet',
    },
    {
      name: 'Oldest position',
      value: row.item.wallets_holding === 0 ? 'no holders' : age('oldest_hold_seconds'),
    },
    { name: 'Time on the list', value: age('watchlist_seconds') },
  ]
}

function entryFacts(item: WatchlistItem): Fact[] {
  return [
    {
      name: 'Mean',
      value: <FormattedText value={formatUsd(item.avg_entry_mcap)} />,
      description: 'at the holders’ first buys, weighted by SOL spent',
    },
    { name: 'Lowest', value: <FormattedText value={formatUsd(item.band_min)} /> },
    { name: 'Highest', value: <FormattedText value={formatUsd(item.band_max)} /> },
    {
      name: 'Multiple of entry',
      value: <Multiple of={item.multiple} />,
      description: 'market cap divided by the mean',
    },
  ]
}

function momentumFacts({ momentum }: WatchlistItem): Fact[] {
  const fact = (
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
    fact('Market cap', momentum.mcap, formatUsd),
    fact('Holders', momentum.holders, (value) => formatNumber(value, 0)),
    fact('Volume, 1 h', momentum.volume1h, formatSol, 'SOL'),
    fact('Liquidity', momentum.liquidity, formatSol, 'SOL'),
  ]
}
