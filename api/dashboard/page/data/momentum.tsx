import { FigureText } from './figure-text.tsx'
import { changeText, type Figure } from './figures.ts'
import { trendWords } from './watchlist-view.ts'

/** A figure of a momentum: how it stands, and where it has gone within an hour, by sign and word. */
export function Momentum(props: {
  /** Where there is little room: the sign of the change says the way. */
  readonly isShort?: boolean
  readonly figure: Figure
  readonly unit?: string
  readonly changePct: number
  readonly trend: string
}) {
  const { isShort = false, figure, unit, changePct, trend } = props
  const { sign, word } = trendWords(trend)
  return (
    <span class={isShort ? 'in-short' : ''}>
      <FigureText figure={figure} {...(unit !== undefined && { unit })} />{' '}
      <span class={trend === 'up' ? 'is-good' : trend === 'down' ? 'is-bad' : ''}>
        <span aria-hidden="true">{sign}</span> {!isShort && word} {changeText(changePct)}
      </span>
    </span>
  )
}
