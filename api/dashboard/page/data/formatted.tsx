import {
  type FormattedNumber,
  formatAmount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatSol,
  formatTime,
  formatUsd,
  shortAddress,
  withSign,
} from './format.ts'
import { usePreferences } from './preferences.ts'
import { useNow } from './use-now.ts'

/** A number in short form, or in exact form if the customer chose that. `unit` follows it. */
export function FormattedText(props: {
  readonly value: FormattedNumber
  readonly unit?: string | undefined
}) {
  const { value, unit } = props
  const [{ showsExact }] = usePreferences()
  const hasUnit = value.text === '–' || (showsExact && unit && value.exact.endsWith(unit))
  return (
    <span title={value.exact}>
      {showsExact ? value.exact : value.text}
      {unit !== undefined && !hasUnit ? ` ${unit}` : ''}
    </span>
  )
}

/** An amount of a token in raw units. */
export function TokenAmount(props: {
  readonly raw: string
  readonly decimals: number
  readonly unit?: string
}) {
  return <FormattedText value={formatAmount(props.raw, props.decimals)} unit={props.unit} />
}

/** An amount of SOL. Null is unknown. */
export function SolAmount({ sol }: { sol: number | null }) {
  return <FormattedText value={formatSol(sol)} unit="SOL" />
}

/** A profit or loss in SOL, without its unit. Sign and colour say which. Null is unknown. */
export function Profit({ sol }: { sol: number | null }) {
  if (sol === null) return <FormattedText value={formatSol(sol)} />
  return (
    <span class={sol > 0 ? 'is-good' : sol < 0 ? 'is-bad' : ''}>
      <FormattedText value={withSign(sol, formatSol(sol))} />
    </span>
  )
}

/** A duration in seconds. Null is unknown. */
export function Duration({ seconds }: { seconds: number | null }) {
  return <FormattedText value={formatDuration(seconds)} />
}

/** Shows an amount of SOL. */
export const showSol = (sol: number | null) => <SolAmount sol={sol} />

/** Shows an amount of USD, such as a market cap. */
export const showUsd = (usd: number | null) => <FormattedText value={formatUsd(usd)} />

/** Shows a percentage given as 0 to 100. */
export const showPercent = (percent: number | null) => (
  <FormattedText value={formatPercent(percent)} />
)

/** Shows a duration in seconds. */
export const showDuration = (seconds: number | null) => <Duration seconds={seconds} />

/** Shows an integer. */
export const showCount = (count: number) => <FormattedText value={formatNumber(count, 0)} />

/** A time in unix seconds, in the time zone of the browser. Null is unknown. */
export function LocalTime({ unix }: { unix: number | null }) {
  const [{ showsExact }] = usePreferences()
  if (unix === null) return <span title="not known">–</span>
  const { text, exact } = formatTime(unix, new Date(unix * 1000).getTimezoneOffset())
  return (
    <time dateTime={exact.replace(' UTC', 'Z').replace(' ', 'T')} title={exact}>
      {showsExact ? exact : text}
    </time>
  )
}

/** How long ago a time in unix seconds was; the time itself shows on hover. Null is unknown. */
export function TimeAgo({ unix }: { unix: number | null }) {
  const [{ showsExact }] = usePreferences()
  const now = useNow(10)
  if (unix === null || showsExact) return <LocalTime unix={unix} />
  const { text, exact } = formatTime(unix, new Date(unix * 1000).getTimezoneOffset())
  return (
    <time dateTime={exact.replace(' UTC', 'Z').replace(' ', 'T')} title={`${text} (${exact})`}>
      {formatDuration(Math.max(0, Math.floor(now) - unix)).text} ago
    </time>
  )
}

/** A link to the page of a token. It shows the symbol if there is one, else the address. */
export function TokenLink({ mint, symbol = '' }: { mint: string; symbol?: string }) {
  const [{ showsExact }] = usePreferences()
  const exact = symbol === '' ? mint : `${symbol} ${mint}`
  return (
    <a href={`#/tokens/${mint}`} title={mint}>
      {showsExact ? exact : symbol || shortAddress(mint)}
    </a>
  )
}

/** A link to the page of a tracked wallet. */
export function WalletLink({ alias }: { alias: string }) {
  return <a href={`#/wallets/${alias}`}>{alias}</a>
}

/** The checkbox that switches every page between short and exact numbers. */
export function ExactNumbersToggle() {
  const [{ showsExact }, choose] = usePreferences()
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={showsExact}
        onChange={(event) => choose({ showsExact: event.currentTarget.checked })}
      />
      Show exact numbers and UTC times
    </label>
  )
}
