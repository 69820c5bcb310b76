import { useMemo } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartSeries } from '../charts/chart-series.ts'
import {
  impliedPrices,
  type PricePoint,
  toChartNumber,
  type VolumeBucket,
  volumeBuckets,
} from '../charts/swap-series.ts'
import { DataTable } from '../data/data-table.tsx'
import { formatAmount, formatDuration, formatPrice, formatSol } from '../data/format.ts'
import { LocalTime, TokenAmount, WalletLink } from '../data/formatted.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { TradeSide } from '../data/trade-side.tsx'

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
      <PriceChart swaps={swaps} />
      <VolumeChart swaps={swaps} isComplete={isComplete} />
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
  const buys = prices.filter(({ side }) => side === 'buy').length
  return (
    <Chart
      title="Price, with the buys and sells of tracked wallets"
      summary={`SOL per token, fees included: ${priceText(first.price)} in the oldest swap, ${priceText(last.price)} in the newest. ▲ ${buys} buys, ▼ ${prices.length - buys} sells.`}
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

const PRICE_COLUMNS: readonly TableColumn<PricePoint>[] = [
  { key: 'time', title: 'Time', cell: ({ time }) => <LocalTime unix={time} /> },
  { key: 'wallet', title: 'Wallet', cell: ({ wallet }) => <WalletLink alias={wallet} /> },
  { key: 'side', title: 'Side', cell: ({ side }) => <TradeSide side={side} /> },
  {
    key: 'price',
    title: 'SOL per token',
    isNumeric: true,
    cell: ({ price }) => priceText(price),
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
  const marks = (side: 'buy' | 'sell') => ({
    label: side === 'buy' ? '▲ Buys' : '▼ Sells',
    colour: side === 'buy' ? '--good' : '--bad',
    shape: `${side}s` as const,
    values: prices.map((point) => (point.side === side ? point.price : null)),
    text: priceText,
  })
  return [
    {
      label: 'SOL per token',
      colour: '--accent',
      shape: 'line',
      values: prices.map(({ price }) => price),
      text: priceText,
    },
    marks('buy'),
    marks('sell'),
  ]
}

const priceText = (price: number) => formatPrice(price).text
