import { FigureText } from './figure-text.tsx'
import { changeText, type Figure } from './figures.ts'
import { trendWords } from './watchlist-view.ts'

/** A figure of a momentum: how it stands, and where it has gone within an hour, by sign and word. */
export function Momentum(props: {
  readonly label?: string
  readonly figure: Figure
  readonly unit?: string
  readonly changePct: number
  readonly trend: string
}) {
  const { label, figure, unit, changePct, trend } = props
  const { sign, word } = trendWords(trend)
  return (
    <span class="momentum">
      {label !== undefined && `${label} `}
      <FigureText figure={figure} {...(unit !== undefined && { unit })} />{' '}
      <span class={trend === 'up' ? 'is-good' : trend === 'down' ? 'is-bad' : ''}>
        <span aria-hidden="true">{sign}</span> {word} {changeText(changePct)}
      </span>
    </span>
  )
}
