import { formatNumber } from '../data/format.ts'
import { FormattedText } from '../data/formatted.tsx'

/** A market cap as a multiple of another one: `2.5×`. Null is unknown. */
export function Multiple({ of }: { of: number | null }) {
  const { text, exact } = formatNumber(of, 2)
  const value = of === null ? { text, exact } : { text: `${text}×`, exact: `${exact}×` }
  return <FormattedText value={value} />
}
