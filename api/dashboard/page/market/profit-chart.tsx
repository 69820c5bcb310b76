import { useMemo, useState } from 'preact/hooks'
import type { ProfitPointItem } from '../../../items/profit-point.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartSeries } from '../charts/chart-series.ts'
import { SelectField } from '../components/select-field.tsx'
import { DataTable } from '../data/data-table.tsx'
import { formatSol, withSign } from '../data/format.ts'
import { LocalTime, Profit, showCount, showSol } from '../data/formatted.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { type PaidQuery, usePaidQuery } from '../data/use-paid-query.ts'
import type { ProfitResponse } from '../responses.ts'
import { type BookMode, ModeField } from './book-mode.tsx'
import { PROFIT_SPANS, type ProfitSpan, profitPath } from './profit-path.ts'

const SPAN_TEXTS = Object.fromEntries(
  Object.entries(PROFIT_SPANS).map(([span, { text }]) => [span, text]),
) as Readonly<Record<ProfitSpan, string>> // the same keys

/** The chosen profit chart and its request. */
export interface ProfitQuery {
  readonly query: PaidQuery<ProfitResponse>
  readonly span: ProfitSpan
  readonly chooseSpan: (span: ProfitSpan) => void
  readonly mode: BookMode
  readonly chooseMode: (mode: BookMode) => void
}

/** Returns the request for the profit of a wallet over time, and what it is of. */
export function useProfitQuery(alias: string, price: number): ProfitQuery {
  const [span, chooseSpan] = useState<ProfitSpan>('30d')
  const [mode, chooseMode] = useState<BookMode>('raw')
  const [opened] = useState(() => Date.now() / 1000)
  const query = usePaidQuery<ProfitResponse>(profitPath(alias, span, mode, opened), price)
  return { query, span, chooseSpan, mode, chooseMode }
}

/** The profit of a wallet over time: its equity curve. */
export function ProfitSection({ alias, profit }: { alias: string; profit: ProfitQuery }) {
  const { query, span, chooseSpan, mode, chooseMode } = profit
  return (
    <>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <SelectField label="Span" value={span} options={SPAN_TEXTS} choose={chooseSpan} />
        <ModeField mode={mode} choose={chooseMode} />
      </form>
      <PaidView query={query} what={`the profit of ${alias}`}>
        {({ body: { items } }) => <ProfitChart alias={alias} points={items} />}
      </PaidView>
    </>
  )
}

function ProfitChart({ alias, points }: { alias: string; points: readonly ProfitPointItem[] }) {
  const { times, series } = useMemo(
    () => ({ times: points.map(({ time }) => time), series: profitSeries(points) }),
    [points],
  )
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined)
    return <p class="empty">There is no point in this span yet.</p>
  const change = last.total_sol - first.total_sol
  const unpriced =
    last.unpriced > 0
      ? ` No price is known for ${last.unpriced} of the open positions, so they are left out.`
      : ''
  return (
    <Chart
      title={`Profit of ${alias}`}
      summary={`${solText(change)} in this span. In all ${solText(last.total_sol)}: ${solText(last.realized_sol)} realised and ${solText(last.unrealized_sol)} unrealised.${unpriced}`}
      times={times}
      series={series}
    >
      <DataTable
        caption={`Profit of ${alias} over time, newest first`}
        columns={COLUMNS}
        rows={[...points].reverse()}
        rowKey={({ time }) => time}
      />
    </Chart>
  )
}

const solText = (sol: number) => `${withSign(sol, formatSol(sol)).text} SOL`

function profitSeries(points: readonly ProfitPointItem[]): readonly ChartSeries[] {
  const line = (label: string, colour: string, value: (point: ProfitPointItem) => number) => ({
    label,
    colour,
    shape: 'line' as const,
    values: points.map(value),
    text: solText,
  })
  return [
    line('Total', '--accent', ({ total_sol }) => total_sol),
    { ...line('Realised', '--good', ({ realized_sol }) => realized_sol), isDashed: true },
  ]
}

const COLUMNS: readonly TableColumn<ProfitPointItem>[] = [
  { key: 'time', title: 'Time', cell: ({ time }) => <LocalTime unix={time} /> },
  numberColumn('total', 'Total, SOL', ({ total_sol }) => total_sol, showProfit),
  numberColumn('realised', 'Realised, SOL', ({ realized_sol }) => realized_sol, showProfit),
  numberColumn('unrealised', 'Unrealised, SOL', ({ unrealized_sol }) => unrealized_sol, showProfit),
  numberColumn('cost', 'Cost of open positions', ({ open_cost_sol }) => open_cost_sol, showSol),
  numberColumn('volume', 'Volume', ({ volume_sol }) => volume_sol, showSol),
  numberColumn(
    'unpriced',
    'Without a price',
    ({ unpriced }) => unpriced,
    showCount,
    'Open positions whose price is not known, which are not in the unrealised profit',
  ),
]

function showProfit(sol: number) {
  return <Profit sol={sol} />
}
