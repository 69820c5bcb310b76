import type { HoldingItem } from '../../../items/holding.ts'
import { realisedByAverage } from '../charts/swap-series.ts'
import { Empty } from '../components.tsx'
import { type Column, DataTable } from '../data/data-table.tsx'
import { FigureText, Sol, Span, Time, TokenLink } from '../data/figure-text.tsx'
import { amountFigure, numberFigure, percentFigure } from '../data/figures.ts'

export interface HoldingsAnswer {
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly has_more: boolean
  readonly items: readonly HoldingItem[]
}

/** What a wallet holds, with what it made of each token so far as bars. */
export function Holdings(props: {
  readonly answer: HoldingsAnswer
  readonly page: number
  readonly turn: (page: number) => void
  readonly choose: (mint: string) => void
}) {
  const { answer, page, turn, choose } = props
  const { items, total, has_more } = answer
  if (total === 0)
    return (
      <Empty>
        <p>It holds no token that it bought. Its closed positions count in the metrics above.</p>
        <p class="about">{BY_SWAPS}</p>
      </Empty>
    )
  const largest = Math.max(...items.map((item) => Math.abs(realised(item))), 1e-9)
  return (
    <>
      <p class="about">{BY_SWAPS}</p>
      <DataTable
        caption={`Tokens held: ${total}`}
        columns={[
          ...COLUMNS,
          {
            key: 'realised',
            title: 'Realised',
            about:
              'Sold less the part of the cost that left with it, at the average price of the buys; the metrics count lot by lot',
            isFigure: true,
            value: realised,
            cell: (item) => <Realised sol={realised(item)} largest={largest} />,
          },
          {
            key: 'history',
            title: 'History',
            cell: ({ token }) => (
              <button
                type="button"
                class="small"
                aria-label={`Show the history of the position in ${token.address}`}
                onClick={() => choose(token.address)}
              >
                Show
              </button>
            ),
          },
        ]}
        rows={items}
        rowKey={({ token }) => token.address}
      />
      {(page > 1 || has_more) && (
        <nav aria-label="Pages of holdings" class="pages">
          <button type="button" disabled={page === 1} onClick={() => turn(page - 1)}>
            Earlier page
          </button>
          <span>Page {page}</span>
          <button type="button" disabled={!has_more} onClick={() => turn(page + 1)}>
            Later page
          </button>
        </nav>
      )}
    </>
  )
}

/** Why the two counts may differ (rule C18). */
const BY_SWAPS =
  'What counts as held here is bought less sold, by swaps alone. The metrics follow transfers too, so their “Tokens in open positions” may be more or fewer.'

const realised = ({ position }: HoldingItem) => realisedByAverage(position)

/** Profit or loss as a figure and a bar, which grows to the right or to the left. */
function Realised({ sol, largest }: { sol: number; largest: number }) {
  const half = (Math.abs(sol) / largest) * 50
  return (
    <>
      <Sol sol={sol} />
      <span class="two-way" aria-hidden="true">
        <span
          class={sol < 0 ? 'loss' : 'gain'}
          style={{ width: `${half}%`, marginInlineStart: `${sol < 0 ? 50 - half : 50}%` }}
        />
      </span>
    </>
  )
}

const COLUMNS: readonly Column<HoldingItem>[] = [
  {
    key: 'token',
    title: 'Token',
    isUpwards: true,
    value: ({ token }) => token.address,
    cell: ({ token }) => <TokenLink mint={token.address} />,
  },
  {
    key: 'held',
    title: 'Held',
    isFigure: true,
    value: ({ position }) => position.tokens_held,
    cell: ({ position }) => <FigureText figure={tokensFigure(position.tokens_held)} />,
  },
  {
    key: 'part',
    title: 'Of what it bought',
    isFigure: true,
    value: ({ position }) => position.pct_held,
    cell: ({ position }) => <FigureText figure={percentFigure(position.pct_held * 100)} />,
  },
  {
    key: 'bought',
    title: 'Spent',
    isFigure: true,
    value: ({ position }) => position.sol_bought,
    cell: ({ position }) => <Sol sol={position.sol_bought} />,
  },
  {
    key: 'sold',
    title: 'Got back',
    isFigure: true,
    value: ({ position }) => position.sol_sold,
    cell: ({ position }) => <Sol sol={position.sol_sold} />,
  },
  {
    key: 'since',
    title: 'Held for',
    about: 'Since its first trade of the token',
    isFigure: true,
    value: ({ timing }) => timing.holding_time,
    cell: ({ timing }) => <Span seconds={timing.holding_time} />,
  },
  {
    key: 'last',
    title: 'Last trade',
    value: ({ timing }) => timing.last_activity_at,
    cell: ({ timing }) => <Time unix={timing.last_activity_at} />,
  },
]

/** Holdings are numbers already; in short they read as raw amounts do. */
function tokensFigure(tokens: number) {
  const whole = Math.trunc(tokens)
  return Math.abs(tokens) >= 1e6 && Number.isSafeInteger(whole)
    ? { text: amountFigure(String(whole), 0).text, exact: numberFigure(tokens, 9).exact }
    : numberFigure(tokens, 4)
}
