import type { Figure } from './figures.ts'
import { amountFigure, shortAddress, solFigure, spanFigure, timeFigure } from './figures.ts'
import { usePreferences } from './preferences.ts'

/** A figure in short, all of it on the title, or in its place when full figures are asked for. */
export function FigureText({ figure, unit }: { figure: Figure; unit?: string }) {
  const [{ isFull }] = usePreferences()
  return (
    <span class="figure" title={figure.exact}>
      {isFull ? figure.exact : figure.text}
      {unit !== undefined && !(isFull && figure.exact.endsWith(unit)) && figure.text !== '–'
        ? ` ${unit}`
        : ''}
    </span>
  )
}

/** An amount of a token or coin, given in raw units. */
export function Amount({ raw, decimals, unit }: { raw: string; decimals: number; unit?: string }) {
  const figure = amountFigure(raw, decimals)
  return unit === undefined ? (
    <FigureText figure={figure} />
  ) : (
    <FigureText figure={figure} unit={unit} />
  )
}

export function Sol({ sol }: { sol: number | null }) {
  return <FigureText figure={solFigure(sol)} unit="SOL" />
}

export function Span({ seconds }: { seconds: number | null }) {
  return <FigureText figure={spanFigure(seconds)} />
}

/** A time in unix seconds, on the clock of whoever looks. */
export function Time({ unix }: { unix: number | null }) {
  const [{ isFull }] = usePreferences()
  if (unix === null) return <span title="not known">–</span>
  const { text, exact } = timeFigure(unix, new Date(unix * 1000).getTimezoneOffset())
  return (
    <time class="figure" dateTime={exact.replace(' UTC', 'Z').replace(' ', 'T')} title={exact}>
      {isFull ? exact : text}
    </time>
  )
}

/** A link to a token's page; by its symbol where one is known. */
export function TokenLink({ mint, symbol }: { mint: string; symbol?: string }) {
  const [{ isFull }] = usePreferences()
  const name = symbol === undefined || symbol === '' ? shortAddress(mint) : symbol
  return (
    <a href={`#/tokens/${mint}`} title={mint} class="token">
      {isFull ? `${symbol === undefined || symbol === '' ? '' : `${symbol} `}${mint}` : name}
    </a>
  )
}

export function WalletLink({ alias }: { alias: string }) {
  return <a href={`#/wallets/${alias}`}>{alias}</a>
}

/** The switch between figures in short and in full, for every page. */
export function FullFigures() {
  const [{ isFull }, choose] = usePreferences()
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isFull}
        onChange={(event) => choose({ isFull: event.currentTarget.checked })}
      />
      Full figures, times in UTC
    </label>
  )
}
