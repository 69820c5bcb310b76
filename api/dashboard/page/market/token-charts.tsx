import { useMemo } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { Chart, type Series } from '../charts/chart.tsx'
import { drawn, impliedPrices, type VolumeBucket, volumeBuckets } from '../charts/swap-series.ts'
import { type Column, DataTable } from '../data/data-table.tsx'
import { Amount, Time } from '../data/figure-text.tsx'
import { amountFigure, solFigure, spanFigure } from '../data/figures.ts'

/** What tracked wallets bought and sold of a token over time, and the price that their swaps imply. `swaps` newest first. */
export function TokenCharts(props: {
  readonly swaps: readonly SwapItem[]
  readonly isWhole: boolean
}) {
  const { swaps, isWhole } = props
  const count = swaps.length
  const charts = useMemo(() => {
    const { seconds, buckets } = volumeBuckets(swaps)
    const prices = impliedPrices(swaps)
    return {
      seconds,
      buckets,
      prices,
      bucketTimes: buckets.map(({ time }) => time),
      volume: volumeSeries(buckets),
      priceTimes: prices.map(({ time }) => time),
      price: priceSeries(prices),
    }
  }, [count, swaps[0]])
  const { seconds, buckets, prices, bucketTimes, volume, priceTimes, price } = charts
  const sum = (of: 'bought' | 'sold') =>
    amountFigure(buckets.reduce((total, bucket) => total + bucket[of], 0n).toString(), 9).text
  const [firstPrice, lastPrice] = [prices[0], prices.at(-1)]
  const range = isWhole ? 'all swaps' : `the newest ${count} swaps`
  return (
    <>
      <Chart
        title="Bought and sold"
        summary={`In ${range} against SOL: ${sum('bought')} SOL bought, ${sum('sold')} SOL sold, by stretches of ${spanFigure(seconds).text}. Sells are drawn below zero.`}
        times={bucketTimes}
        series={volume}
      >
        <DataTable
          caption="Bought and sold by time, newest first"
          columns={BUCKET_COLUMNS}
          rows={buckets.filter(({ bought, sold }) => bought > 0n || sold > 0n).reverse()}
          rowKey={({ time }) => time}
        />
      </Chart>
      {firstPrice !== undefined && lastPrice !== undefined && (
        <Chart
          title="Price implied by the swaps"
          summary={`SOL for one token: ${priceText(firstPrice.price)} at first, ${priceText(lastPrice.price)} in the end, fees included.`}
          times={priceTimes}
          series={price}
        >
          <DataTable
            caption="Prices, newest first"
            columns={[
              { key: 'time', title: 'Time', cell: ({ time }) => <Time unix={time} /> },
              {
                key: 'price',
                title: 'SOL for one token',
                isFigure: true,
                cell: (point) => priceText(point.price),
              },
            ]}
            rows={[...prices].reverse()}
            rowKey={(point) => prices.indexOf(point)}
          />
        </Chart>
      )}
    </>
  )
}

const BUCKET_COLUMNS: readonly Column<VolumeBucket>[] = [
  { key: 'time', title: 'From', cell: ({ time }) => <Time unix={time} /> },
  {
    key: 'bought',
    title: 'Bought',
    isFigure: true,
    cell: ({ bought }) => <Amount raw={bought.toString()} decimals={9} unit="SOL" />,
  },
  {
    key: 'sold',
    title: 'Sold',
    isFigure: true,
    cell: ({ sold }) => <Amount raw={sold.toString()} decimals={9} unit="SOL" />,
  },
]

/** A stretch in which nothing happened has no bar, not one without height. */
function volumeSeries(buckets: readonly VolumeBucket[]): readonly Series[] {
  const bar = (lamports: bigint) => (lamports === 0n ? null : drawn(lamports, 9))
  const text = (value: number) => `${solFigure(Math.abs(value)).text} SOL`
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

function priceSeries(prices: readonly { readonly price: number }[]): readonly Series[] {
  return [
    {
      label: 'SOL for one token',
      colour: '--accent',
      shape: 'line',
      values: prices.map(({ price }) => price),
      text: priceText,
    },
  ]
}

/** Prices of new tokens are very small: four significant digits, never as a power of ten. */
function priceText(price: number): string {
  if (price === 0) return '0'
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(price))))
  return price.toFixed(Math.min(digits, 20)).replace(/\.?0+$/, '')
}
