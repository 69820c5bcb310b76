import { useId, useMemo, useState } from 'preact/hooks'
import type { HoldingItem } from '../../../items/holding.ts'
import type { SwapItem } from '../../../items/swap.ts'
import { creditsText } from '../amounts.ts'
import { Chart, type Series } from '../charts/chart.tsx'
import { drawn, type PositionStep, positionHistory } from '../charts/swap-series.ts'
import { Empty } from '../components.tsx'
import { type Column, DataTable } from '../data/data-table.tsx'
import { Amount, Time, TokenLink } from '../data/figure-text.tsx'
import { amountFigure, numberFigure, solFigure } from '../data/figures.ts'
import { isTokenAddress } from '../data/names.ts'
import { PaidView } from '../data/paid.tsx'
import { Side } from '../data/side.tsx'
import { OlderSwaps } from './older-swaps.tsx'
import { SWAPS_PRICE, useSwaps } from './use-swaps.ts'

/** How a wallet's position in a token grew and shrank: the token is chosen from what it holds, or given by its address. */
export function PositionHistory(props: {
  readonly alias: string
  readonly held: readonly HoldingItem[]
  readonly mint: string | null
  readonly choose: (mint: string) => void
}) {
  const { alias, held, mint, choose } = props
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const id = useId()
  return (
    <>
      <p class="about">
        Summed from the token’s swaps ({creditsText(SWAPS_PRICE)} for 200 of them, of all tracked
        wallets). Profit is counted here as in the metrics, oldest lot first; in the list above,
        which knows sums alone, at the average price.
      </p>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          const given = text.trim()
          const isAddress = isTokenAddress(given)
          setIsWrong(!isAddress)
          if (isAddress) choose(given)
        }}
      >
        <label for={id}>Token address</label>
        <input
          type="text"
          id={id}
          list={`${id}-held`}
          value={text}
          spellcheck={false}
          aria-invalid={isWrong}
          aria-describedby={`${id}-wrong`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <datalist id={`${id}-held`}>
          {held.map(({ token }) => (
            <option key={token.address} value={token.address} />
          ))}
        </datalist>
        <button type="submit">Choose this token</button>
        <span id={`${id}-wrong`} role="alert">
          {isWrong ? 'That is no token address.' : ''}
        </span>
      </form>
      {mint !== null && <Position key={mint} alias={alias} mint={mint} />}
    </>
  )
}

function Position({ alias, mint }: { alias: string; mint: string }) {
  const loaded = useSwaps(mint)
  return (
    <>
      <p>
        Token: <TokenLink mint={mint} />
      </p>
      <PaidView paid={loaded.first} what="its swaps">
        {() => (
          <>
            <PositionChart alias={alias} swaps={loaded.swaps} isWhole={loaded.isWhole} />
            <OlderSwaps swaps={loaded} />
          </>
        )}
      </PaidView>
    </>
  )
}

function PositionChart(props: {
  readonly alias: string
  readonly swaps: readonly SwapItem[]
  readonly isWhole: boolean
}) {
  const { alias, swaps, isWhole } = props
  const count = swaps.length
  const decimals = swaps[0]?.base_decimals ?? 0
  const { steps, unvalued, times, series } = useMemo(() => {
    const history = positionHistory(swaps, alias)
    return {
      ...history,
      times: history.steps.map(({ time }) => time),
      series: seriesOf(history.steps, decimals),
    }
  }, [alias, count, swaps[0]])
  const last = steps.at(-1)
  if (last === undefined)
    return (
      <Empty>
        <p>
          {isWhole
            ? `${alias} has not traded this token.`
            : `None of the newest ${count} swaps of this token is of ${alias}. Older ones may be.`}
        </p>
      </Empty>
    )
  const held = amountFigure(last.held.toString(), decimals)
  const realised = amountFigure(last.realised.toString(), 9)
  return (
    <Chart
      title={`Position of ${alias}`}
      summary={[
        `${swapsText(steps.length)}; ${isWhole ? 'in the end' : 'counted from the oldest swap loaded,'} ${held.text} tokens held and ${realised.text} SOL realised.`,
        ...(isWhole ? [] : ['Older swaps are not loaded, so both begin at zero too late.']),
        ...(steps.some((step) => step.held < 0n)
          ? [
              `Below zero are tokens that it sold without having bought them ${isWhole ? 'by a swap: they came by transfer' : 'in the swaps loaded'}.`,
            ]
          : []),
        ...(unvalued > 0
          ? [`Left out of what was realised: ${swapsText(unvalued)} without a value in SOL here.`]
          : []),
      ].join(' ')}
      times={times}
      series={series}
    >
      <DataTable
        caption={`Steps of the position of ${alias}, newest first`}
        columns={stepColumns(decimals)}
        rows={[...steps].reverse()}
        rowKey={(step) => steps.indexOf(step)}
      />
    </Chart>
  )
}

function swapsText(count: number): string {
  return count === 1 ? '1 swap' : `${count} swaps`
}

/** Profit is drawn where there is any. */
function seriesOf(steps: readonly PositionStep[], decimals: number): readonly Series[] {
  const held: Series = {
    label: 'Tokens held',
    colour: '--accent',
    shape: 'steps',
    values: steps.map((step) => drawn(step.held, decimals)),
    text: compact,
  }
  if (steps.every(({ realised }) => realised === 0n)) return [held]
  return [
    held,
    {
      label: 'SOL realised',
      colour: '--good',
      shape: 'steps',
      isRight: true,
      isDashed: true,
      values: steps.map(({ realised }) => drawn(realised, 9)),
      text: (value) => `${solFigure(value).text} SOL`,
    },
  ]
}

/** A number beside an axis. */
function compact(value: number): string {
  return Math.abs(value) >= 1e6
    ? amountFigure(String(Math.trunc(value)), 0).text
    : numberFigure(value, 3).text
}

function stepColumns(decimals: number): readonly Column<PositionStep>[] {
  return [
    { key: 'time', title: 'Time', cell: ({ time }) => <Time unix={time} /> },
    { key: 'side', title: 'Side', cell: ({ side }) => <Side side={side} /> },
    {
      key: 'held',
      title: 'Held after it',
      isFigure: true,
      cell: ({ held }) => <Amount raw={held.toString()} decimals={decimals} />,
    },
    {
      key: 'realised',
      title: 'Realised so far',
      isFigure: true,
      cell: ({ realised }) => <Amount raw={realised.toString()} decimals={9} unit="SOL" />,
    },
  ]
}
