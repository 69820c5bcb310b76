import { useMemo } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartSeries } from '../charts/chart-series.ts'
import { type PositionPoint, positionHistory, toChartNumber } from '../charts/swap-series.ts'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { formatAmount, formatNumber, formatSol } from '../data/format.ts'
import { LocalTime, TokenAmount } from '../data/formatted.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { TradeSide } from '../data/trade-side.tsx'

const SOL_DECIMALS = 9

/** Draws a wallet's position in a token. `swaps` are newest first, of all tracked wallets. */
export function PositionChart(props: {
  readonly alias: string
  readonly swaps: readonly SwapItem[]
  /** Whether `swaps` are all swaps of the token. */
  readonly isComplete: boolean
}) {
  const { alias, swaps, isComplete } = props
  const count = swaps.length
  const decimals = swaps[0]?.base_decimals ?? 0
  const { points, unvalued, unmatched, times, series } = useMemo(() => {
    const history = positionHistory(swaps, alias)
    return {
      ...history,
      times: history.points.map(({ time }) => time),
      series: positionSeries(history.points, decimals),
    }
  }, [alias, count, swaps[0]])
  if (points.length === 0)
    return (
      <EmptyNotice>
        {isComplete
          ? `${alias} has not traded this token.`
          : `${alias} made none of the newest ${count} swaps of this token. Older swaps are not loaded.`}
      </EmptyNotice>
    )
  return (
    <Chart
      title={`Position of ${alias}`}
      summary={positionSummary(points, { unvalued, unmatched }, decimals, isComplete)}
      times={times}
      series={series}
    >
      <DataTable
        caption={`Position of ${alias} after each swap, newest first`}
        columns={positionColumns(decimals)}
        rows={[...points].reverse()}
        rowKey={(point) => points.indexOf(point)}
      />
    </Chart>
  )
}

function positionSummary(
  points: readonly PositionPoint[],
  { unvalued, unmatched }: { readonly unvalued: number; readonly unmatched: number },
  decimals: number,
  isComplete: boolean,
): string {
  const last = points.at(-1)
  const held = formatAmount((last?.held ?? 0n).toString(), decimals).text
  const realised = formatAmount((last?.realised ?? 0n).toString(), SOL_DECIMALS).text
  const sentences = [
    `After ${swapCount(points.length)}: ${held} tokens held, ${realised} SOL realised profit.`,
  ]
  if (!isComplete)
    sentences.push('Older swaps are not loaded, so both values start at zero too late.')
  if (points.some((point) => point.held < 0n))
    sentences.push(
      isComplete
        ? 'Below zero, the wallet sold tokens that it had received by transfer.'
        : 'Below zero, the wallet sold tokens that it did not buy in the loaded swaps.',
    )
  if (unmatched > 0)
    sentences.push(
      `Sells of tokens that the wallet did not buy${isComplete ? '' : ' in the loaded swaps'}, so they have no cost and no profit: ${unmatched}.`,
    )
  if (unvalued > 0)
    sentences.push(`Without a value in SOL, so not in the profit: ${swapCount(unvalued)}.`)
  return sentences.join(' ')
}

function swapCount(count: number): string {
  return count === 1 ? '1 swap' : `${count} swaps`
}

/** Returns the series of the chart. Profit is left out if there is none. */
function positionSeries(
  points: readonly PositionPoint[],
  decimals: number,
): readonly ChartSeries[] {
  const held: ChartSeries = {
    label: 'Tokens held',
    colour: '--accent',
    shape: 'steps',
    values: points.map((point) => toChartNumber(point.held, decimals)),
    text: formatCompact,
  }
  if (points.every(({ realised }) => realised === 0n)) return [held]
  return [
    held,
    {
      label: 'Realised profit',
      colour: '--good',
      shape: 'steps',
      isRight: true,
      isDashed: true,
      values: points.map(({ realised }) => toChartNumber(realised, SOL_DECIMALS)),
      text: (value) => `${formatSol(value).text} SOL`,
    },
  ]
}

/** Formats a number beside an axis. */
function formatCompact(value: number): string {
  return Math.abs(value) >= 1e6
    ? formatAmount(String(Math.trunc(value)), 0).text
    : formatNumber(value, 3).text
}

function positionColumns(decimals: number): readonly TableColumn<PositionPoint>[] {
  return [
    { key: 'time', title: 'Time', cell: ({ time }) => <LocalTime unix={time} /> },
    { key: 'side', title: 'Side', cell: ({ side }) => <TradeSide side={side} /> },
    {
      key: 'held',
      title: 'Tokens held',
      isNumeric: true,
      cell: ({ held }) => <TokenAmount raw={held.toString()} decimals={decimals} />,
    },
    {
      key: 'realised',
      title: 'Realised profit',
      isNumeric: true,
      cell: ({ realised }) => (
        <TokenAmount raw={realised.toString()} decimals={SOL_DECIMALS} unit="SOL" />
      ),
    },
  ]
}
