import { useEffect, useState } from 'preact/hooks'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { ColumnMenu, useChosenColumns } from '../data/column-choice.tsx'
import { DataTable } from '../data/data-table.tsx'
import { ExactNumbersToggle, TimeAgo } from '../data/formatted.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { cachePart, usePaidQuery } from '../data/use-paid-query.ts'
import type { BoardResponse } from '../responses.ts'
import { useHashLocation } from '../router.ts'
import {
  type BoardChoices,
  type BoardSort,
  boardFromQuery,
  boardHash,
  boardPath,
  changeBoard,
} from './board-choices.ts'
import { BOARD_COLUMNS, SHOWN_AT_FIRST } from './board-columns.tsx'
import { BoardForm } from './board-form.tsx'
import { MODES_ABOUT } from './book-mode.tsx'
import { Pager } from './pager.tsx'
import { StatusLegend } from './wallet-status.tsx'

/** Price of a page of the leaderboard, in credits. */
const PRICE = 1

const COLUMN_OF_SORT: Readonly<Record<BoardSort, string>> = {
  pnl: 'profit',
  winrate: 'winrate',
  trades: 'trades',
  volume: 'volume',
  score: 'score',
}

/** The leaderboard of the tracked wallets, 25 per page. The service sorts and filters. */
export function WalletsPage() {
  const { query: hashQuery } = useHashLocation()
  const choices = boardFromQuery(hashQuery)
  const query = usePaidQuery<BoardResponse>(boardPath(choices), PRICE)
  const { response, path, load } = query
  const [clickedPath, setClickedPath] = useState('')
  useEffect(() => {
    // A header or a page button was clicked, and its tooltip or text names the price.
    if (clickedPath !== path) return
    setClickedPath('')
    if (response === null) load()
  }, [clickedPath, path, response, load])
  useEffect(() => {
    // The page of a wallet then shows these metrics without another request.
    for (const item of response?.body.items ?? [])
      if (response !== null) cachePart(`/wallets/${item.identity.wallet}/metrics`, item, response)
  }, [response])
  const show = (change: Partial<BoardChoices>) => {
    location.hash = boardHash(changeBoard(choices, change))
  }
  const showNow = (change: Partial<BoardChoices>) => {
    setClickedPath(boardPath(changeBoard(choices, change)))
    show(change)
  }
  return (
    <PageLayout
      title="Wallets"
      about="The tracked wallets, best first. Choose what counts, then open a wallet to see its profit over time, its positions and its trades."
    >
      <BoardForm choices={choices} change={show} />
      <p class="about">{MODES_ABOUT}</p>
      <PaidView query={query} what={`wallets, page ${choices.page}`}>
        {({ body }) => <Board body={body} choices={choices} show={showNow} />}
      </PaidView>
      <Pager
        label="Pages of wallets"
        page={choices.page}
        hasMore={response?.body.has_more === true}
        goTo={(page) => showNow({ page })}
        price={PRICE}
      />
    </PageLayout>
  )
}

function Board(props: {
  readonly body: BoardResponse
  readonly choices: BoardChoices
  readonly show: (change: Partial<BoardChoices>) => void
}) {
  const { body, choices, show } = props
  const { items, total, page, page_size, as_of } = body
  const { shown, choose } = useChosenColumns('wallets', BOARD_COLUMNS, SHOWN_AT_FIRST)
  if (as_of === null)
    return (
      <EmptyNotice>
        The service is still fetching the history of the wallets. The leaderboard begins when it is
        complete. Try again in a few minutes.
      </EmptyNotice>
    )
  if (items.length === 0)
    return (
      <EmptyNotice>
        There are no wallets on this page. Choose another status or fewer trades.
      </EmptyNotice>
    )
  const first = (page - 1) * page_size + 1
  return (
    <>
      <div class="tools">
        <ColumnMenu columns={BOARD_COLUMNS} shown={shown} choose={choose} />
        <ExactNumbersToggle />
      </div>
      <DataTable
        caption={`Wallets ${first} to ${first + items.length - 1} of ${total}`}
        columns={shown}
        rows={items}
        rowKey={({ identity }) => identity.wallet}
        serverSorting={{
          sorting: {
            column: COLUMN_OF_SORT[choices.sort],
            descending: choices.order === 'desc',
          },
          columns: Object.values(COLUMN_OF_SORT),
          hint: 'Sorts all wallets (1 credit)',
          sort: ({ column, descending }) =>
            show({
              // The columns that sort are the values of `COLUMN_OF_SORT`.
              sort: SORT_OF_COLUMN.get(column) ?? 'pnl',
              order: descending ? 'desc' : 'asc',
            }),
        }}
      />
      <p class="about">
        Profit, win rate, trades and volume of the period end with the last full hour,{' '}
        <TimeAgo unix={as_of} />.
      </p>
      <StatusLegend shown={new Set(items.map(({ identity }) => identity.status))} />
    </>
  )
}

const SORT_OF_COLUMN = new Map(
  // The keys of the record are its sorts.
  Object.entries(COLUMN_OF_SORT).map(([sort, column]) => [column, sort as BoardSort]),
)
