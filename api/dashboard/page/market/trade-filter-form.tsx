import { useState } from 'preact/hooks'
import { formatCredits } from '../amounts.ts'
import { FormErrors } from '../components/form-errors.tsx'
import { TextField } from '../components/text-field.tsx'
import { FEED_PRICES } from '../data/trade-feed.ts'
import { parseTradeFilter, type TradeFilter } from '../data/trade-list.ts'

/** The form that starts the feed: wallets, tokens, and a budget in credits. */
export function TradeFilterForm(props: {
  /** Whether the feed has not started yet. */
  readonly isFirst: boolean
  readonly isLoading: boolean
  readonly start: (filter: TradeFilter, budget: number) => void
}) {
  const { isFirst, isLoading, start } = props
  const [wallets, setWallets] = useState('')
  const [mints, setMints] = useState('')
  const [budgetText, setBudgetText] = useState('1000')
  const [errors, setErrors] = useState<readonly string[]>([])
  const submit = () => {
    const parsed = parseTradeFilter(wallets, mints)
    const budget = parseBudget(budgetText)
    const budgetErrors = budget === null ? ['Enter the budget as a whole number of credits.'] : []
    setErrors([...parsed.errors, ...budgetErrors])
    if (parsed.errors.length === 0 && budget !== null) start(parsed.filter, budget)
  }
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <TextField
        label="Wallets"
        value={wallets}
        change={setWallets}
        placeholder="all, or W1 W12 …"
      />
      <TextField
        label="Tokens"
        value={mints}
        change={setMints}
        placeholder="all, or token addresses"
        isWide
      />
      <TextField label="Budget (credits)" value={budgetText} change={setBudgetText} isNumeric />
      <button type="submit" class="primary" disabled={isLoading}>
        {isFirst ? 'Start' : 'Restart with this filter'} ({formatCredits(FEED_PRICES.history)}, then{' '}
        {formatCredits(FEED_PRICES.message)} per trade)
      </button>
      <FormErrors errors={errors} />
    </form>
  )
}

/** Parses a whole number of credits from 1 to 999,999,999. Returns null for any other text. */
function parseBudget(text: string): number | null {
  return /^[1-9][0-9]{0,8}$/.test(text.trim()) ? Number(text) : null
}
