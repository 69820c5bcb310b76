import { sparklinePath } from '../charts/sparkline.ts'
import { Icon } from '../components/icon.tsx'
import { formatSol, withSign } from '../data/format.ts'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { ProfitResponse } from '../responses.ts'
import { profitPath } from './profit-path.ts'

const WIDTH = 96
const HEIGHT = 24

/** A small curve of a wallet's profit of the last 30 days. It is loaded by a click alone. */
export function ProfitCurve({ alias }: { readonly alias: string }) {
  const query = usePaidQuery<ProfitResponse>(profitPath(alias, '30d', 'raw', 0), 1, true)
  const { response, failure, isLoading, load } = query
  if (response !== null) return <Curve values={response.body.items.map((item) => item.total_sol)} />
  return (
    <button
      type="button"
      class="small quiet"
      disabled={isLoading}
      title={
        failure === null
          ? 'Profit over 30 days (1 credit)'
          : 'It could not be loaded. Click to try again (1 credit)'
      }
      onClick={load}
    >
      <Icon name="curve" />
      <span>
        <span class="only-spoken">Profit of {alias} over 30 days, </span>
        {failure === null ? '1 credit' : 'try again, 1 credit'}
      </span>
    </button>
  )
}

function Curve({ values }: { readonly values: readonly number[] }) {
  const change = (values.at(-1) ?? 0) - (values[0] ?? 0)
  const { text } = withSign(change, formatSol(change))
  return (
    <svg
      class={change < 0 ? 'sparkline is-bad' : 'sparkline is-good'}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Profit over 30 days: ${text} SOL`}
    >
      <title>{text} SOL in 30 days</title>
      <path d={sparklinePath(values, WIDTH, HEIGHT)} />
    </svg>
  )
}
