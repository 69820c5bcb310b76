import { SelectField } from '../components/select-field.tsx'

/** How transfers count in profit and positions (rule L6). */
export type BookMode = 'raw' | 'strict'

const MODES: Readonly<Record<BookMode, string>> = {
  raw: 'Raw: transfers count',
  strict: 'Strict: swaps only',
}

/** A menu of the modes. */
export function ModeField(props: {
  readonly mode: BookMode
  readonly choose: (mode: BookMode) => void
}) {
  return <SelectField label="Transfers" value={props.mode} options={MODES} choose={props.choose} />
}

/** What the two modes mean, for below their menu. */
export const MODES_ABOUT =
  'Raw counts tokens that a wallet received by transfer as bought for nothing, so selling them is profit. Strict counts only what it bought and sold by swaps, so a transfer cannot change it.'
