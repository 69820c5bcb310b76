import { useId } from 'preact/hooks'
import { SelectField } from '../components/select-field.tsx'
import { type BoardChoices, MOST_MIN_TRADES } from './board-choices.ts'
import { ModeField } from './book-mode.tsx'

/** The choices of the leaderboard. A change costs nothing until the board is loaded. */
export function BoardForm(props: {
  readonly choices: BoardChoices
  readonly change: (change: Partial<BoardChoices>) => void
}) {
  const { choices, change } = props
  const id = useId()
  return (
    <form class="filter" onSubmit={(event) => event.preventDefault()}>
      <SelectField
        label="Period"
        value={choices.period}
        options={{ '7d': '7 days', '30d': '30 days', all: 'All time' }}
        choose={(period) => change({ period })}
      />
      <SelectField
        label="Sort by"
        value={choices.sort}
        options={{
          pnl: 'Profit',
          winrate: 'Win rate',
          trades: 'Trades',
          volume: 'Volume',
          score: 'Score (all time)',
        }}
        choose={(sort) => change({ sort })}
      />
      <SelectField
        label="Order"
        value={choices.order}
        options={{ desc: 'Highest first', asc: 'Lowest first' }}
        choose={(order) => change({ order })}
      />
      <SelectField
        label="Status"
        value={choices.status}
        options={{
          any: 'Any',
          scored: 'Scored',
          review: 'Review',
          disqualified: 'Disqualified',
        }}
        choose={(status) => change({ status })}
      />
      <div class="field">
        <label for={id}>At least this many trades</label>
        <input
          id={id}
          type="number"
          inputMode="numeric"
          min={0}
          max={MOST_MIN_TRADES}
          value={choices.minTrades}
          onChange={({ currentTarget }) => {
            const count = Math.trunc(Number(currentTarget.value))
            change({ minTrades: Math.min(MOST_MIN_TRADES, Math.max(0, count)) })
          }}
        />
      </div>
      <ModeField mode={choices.mode} choose={(mode) => change({ mode })} />
    </form>
  )
}
