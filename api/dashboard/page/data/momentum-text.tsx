import { type FormattedNumber, formatChange } from './format.ts'
import { FormattedText } from './formatted.tsx'
import { trendLabel } from './watchlist.ts'

/** A value and its change within the last hour, as a sign, a word and a percentage. */
export function MomentumText(props: {
  /** Omits the word, for narrow columns. */
  readonly isShort?: boolean
  readonly value: FormattedNumber
  readonly unit?: string
  /** Null if unknown. */
  readonly changePct: number | null
  readonly trend: string
}) {
  const { isShort = false, value, unit, changePct, trend } = props
  const { sign, word } = trendLabel(trend)
  return (
    <span class={isShort ? 'in-short' : ''}>
      <FormattedText value={value} unit={unit} />{' '}
      <span class={trend === 'up' ? 'is-good' : trend === 'down' ? 'is-bad' : ''}>
        <span aria-hidden="true">{sign}</span> {!isShort && word} {formatChange(changePct)}
      </span>
    </span>
  )
}
