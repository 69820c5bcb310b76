import { useMemo, useState } from 'preact/hooks'
import type { WalletPositionItem } from '../../../items/wallet-position.ts'
import { EmptyNotice } from '../components/query-view.tsx'
import { SelectField } from '../components/select-field.tsx'
import { ColumnMenu, useChosenColumns } from '../data/column-choice.tsx'
import { DataTable } from '../data/data-table.tsx'
import { MoreButton } from '../data/more-button.tsx'
import { PaidView } from '../data/paid-view.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { type PaidList, usePaidList } from '../data/use-paid-list.ts'
import { type BookMode, ModeField } from './book-mode.tsx'
import { POSITION_TABLE_COLUMNS, POSITIONS_SHOWN_AT_FIRST } from './position-columns.tsx'

type PositionStatus = 'open' | 'closed' | 'all'

/** The chosen positions of a wallet and their request. */
export interface ShownPositions {
  readonly list: PaidList<WalletPositionItem>
  readonly status: PositionStatus
  readonly chooseStatus: (status: PositionStatus) => void
  readonly mode: BookMode
  readonly chooseMode: (mode: BookMode) => void
}

/** Returns the request for the positions of a wallet, and which they are. */
export function usePositions(alias: string, price: number): ShownPositions {
  const [status, chooseStatus] = useState<PositionStatus>('open')
  const [mode, chooseMode] = useState<BookMode>('raw')
  const path = `/wallets/${encodeURIComponent(alias)}/positions?status=${status}&mode=${mode}&limit=100`
  const list = usePaidList<WalletPositionItem>(path, price)
  return { list, status, chooseStatus, mode, chooseMode }
}

/** The positions of a wallet, newest event first. */
export function PositionsSection(props: {
  readonly alias: string
  readonly positions: ShownPositions
  /** Shows the history of the position in a token. */
  readonly showHistory: (mint: string) => void
}) {
  const { alias, positions, showHistory } = props
  const { list, status, chooseStatus, mode, chooseMode } = positions
  return (
    <>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Positions"
          value={status}
          options={{ open: 'Open', closed: 'Closed', all: 'Open and closed' }}
          choose={chooseStatus}
        />
        <ModeField mode={mode} choose={chooseMode} />
      </form>
      <PaidView query={list.first} what={`the positions of ${alias}`}>
        {() =>
          list.items.length === 0 ? (
            <EmptyNotice>
              {alias} has no {status === 'all' ? '' : `${status} `}positions.
            </EmptyNotice>
          ) : (
            <>
              <PositionTable list={list} showHistory={showHistory} />
              <MoreButton list={list} what="100 more positions" />
            </>
          )
        }
      </PaidView>
    </>
  )
}

function PositionTable(props: {
  readonly list: PaidList<WalletPositionItem>
  readonly showHistory: (mint: string) => void
}) {
  const { list, showHistory } = props
  const columns = useMemo(
    () => [...POSITION_TABLE_COLUMNS, historyColumn(showHistory)],
    [showHistory],
  )
  const { shown, choose } = useChosenColumns('positions', columns, POSITIONS_SHOWN_AT_FIRST)
  const count = list.items.length
  return (
    <>
      <div class="tools">
        <ColumnMenu columns={columns} shown={shown} choose={choose} />
      </div>
      <DataTable
        caption={`${list.isComplete ? '' : 'The newest '}${count} ${count === 1 ? 'position' : 'positions'}, newest first`}
        columns={shown}
        rows={list.items}
        rowKey={({ token }) => token.address}
      />
    </>
  )
}

function historyColumn(showHistory: (mint: string) => void): TableColumn<WalletPositionItem> {
  return {
    key: 'history',
    title: 'History',
    description: 'The position over time, as a chart',
    cell: ({ token }) => (
      <button
        type="button"
        class="small"
        aria-label={`Show the position history of ${token.symbol ?? token.address}`}
        onClick={() => showHistory(token.address)}
      >
        Show
      </button>
    ),
  }
}
