import { useMemo } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartSeries } from '../charts/chart-series.ts'
import {
  impliedPrices,
  toChartNumber,
  type VolumeBucket,
  volumeBuckets,
} from '../charts/swap-series.ts'
import { DataTable } from '../data/data-table.tsx'
import { formatAmount, formatDuration, formatSol } from '../data/format.ts'
import { LocalTime, TokenAmount } from '../data/formatted.tsx'
import type { TableColumn } from '../data/table-column.ts'

const SOL_DECIMALS = 9

interface TokenChartProps {
  /** Newest first. */
  readonly swaps: readonly SwapItem[]
  /** Whether `swaps` are all swaps of the token. */
  readonly isComplete: boolean
}

/** The volume and the price of a token over time, from the swaps of tracked wallets. */
export function TokenCharts({ swaps, isComplete }: TokenChartProps) {
  return (
    <>
      <VolumeChart swaps={swaps} isComplete={isComplete} />
      <PriceChart swaps={swaps} />
    </>
  )
}

function VolumeChart({ swaps, isComplete }: TokenChartProps) {
  const count = swaps.length
  const { seconds, buckets, times, series } = useMemo(() => {
    const volume = volumeBuckets(swaps)
    return {
      ...volume,
      times: volume.buckets.map(({ time }) => time),
      series: volumeSeries(volume.buckets),
    }
  }, [count, swaps[0]])
  const sum = (side: 'bought' | 'sold') => {
    const lamports = buckets.reduce((total, bucket) => total + bucket[side], 0n)
    return formatAmount(lamports.toString(), SOL_DECIMALS).text
  }
  const range = isComplete ? 'all swaps' : `the newest ${count} swaps`
  return (
    <Chart
      title="Buy and sell volume"
      summary={`Values in SOL of ${range}: ${sum('bought')} SOL bought, ${sum('sold')} SOL sold, in intervals of ${formatDuration(seconds).text}. Sells are drawn below zero.`}
      times={times}
      series={series}
    >
      <DataTable
        caption="Buy and sell volume by time, newest first"
        columns={VOLUME_COLUMNS}
        rows={buckets.filter(({ bought, sold }) => bought > 0n || sold > 0n).reverse()}
        rowKey={({ time }) => time}
      />
    </Chart>
  )
}

function PriceChart({ swaps }: { readonly swaps: readonly SwapItem[] }) {
  const { prices, times, series } = useMemo(() => {
    const implied = impliedPrices(swaps)
    return {
      prices: implied,
      times: implied.map(({ time }) => time),
      series: priceSeries(implied),
    }
  }, [swaps.length, swaps[0]])
  const [first, last] = [prices[0], prices.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <Chart
      title="Price paid in swaps"
      summary={`SOL per token, fees included: ${formatPrice(first.price)} in the oldest swap, ${formatPrice(last.price)} in the newest.`}
      times={times}
      series={series}
    >
      <DataTable
        caption="Prices, newest first"
        columns={PRICE_COLUMNS}
        rows={[...prices].reverse()}
        rowKey={(point) => prices.indexOf(point)}
      />
    </Chart>
  )
}

const VOLUME_COLUMNS: readonly TableColumn<VolumeBucket>[] = [
  { key: 'time', title: 'Interval starts', cell: ({ time }) => <LocalTime unix={time} /> },
  {
    key: 'bought',
    title: 'Bought',
    isNumeric: true,
    cell: ({ bought }) => (
      <TokenAmount raw={bought.toString()} decimals={SOL_DECIMALS} unit="SOL" />
    ),
  },
  {
    key: 'sold',
    title: 'Sold',
    isNumeric: true,
    cell: ({ sold }) => <TokenAmount raw={sold.toString()} decimals={SOL_DECIMALS} unit="SOL" />,
  },
]

interface PricePoint {
  readonly time: number
  readonly price: number
}

const PRICE_COLUMNS: readonly TableColumn<PricePoint>[] = [
  { key: 'time', title: 'Time', cell: ({ time }) => <LocalTime unix={time} /> },
  {
    key: 'price',
    title: 'SOL per token',
    isNumeric: true,
    cell: ({ price }) => formatPrice(price),
  },
]

/** Returns the bars of the volume chart. An interval without swaps has no bar. */
function volumeSeries(buckets: readonly VolumeBucket[]): readonly ChartSeries[] {
  const bar = (lamports: bigint) => (lamports === 0n ? null : toChartNumber(lamports, SOL_DECIMALS))
  const text = (value: number) => `${formatSol(Math.abs(value)).text} SOL`
  return [
    {
      label: 'Bought',
      colour: '--good',
      shape: 'bars',
      values: buckets.map(({ bought }) => bar(bought)),
      text,
    },
    {
      label: 'Sold',
      colour: '--bad',
      shape: 'bars',
      values: buckets.map(({ sold }) => bar(-sold)),
      text,
    },
  ]
}

function priceSeries(prices: readonly PricePoint[]): readonly ChartSeries[] {
  return [
    {
      label: 'SOL per token',
      colour: '--accent',
      shape: 'line',
      values: prices.map(({ price }) => price),
      text: formatPrice,
    },
  ]
}

/** Formats a price with four significant digits, never in exponential notation. */
function formatPrice(price: number): string {
  if (price === 0) return '0'
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(price))))
  return price.toFixed(Math.min(digits, 20)).replace(/\.?0+$/, '')
}
