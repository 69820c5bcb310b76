import { useId, useMemo, useState } from 'preact/hooks'
import { DataTableRow } from './data-table-row.tsx'
import { SortableHeader } from './sortable-header.tsx'
import { nextSorting, type Sorting, sortRows } from './sorting.ts'
import type { RowDetails, TableColumn } from './table-column.ts'

/** How many rows are rendered at first, and how many each click on “Show more” adds. */
const ROWS_PER_STEP = 50

/** Sorting by the service. The rows are those of a sorted list already. */
export interface ServerSorting {
  readonly sorting: Sorting
  /** Keys of the columns that the service sorts by. */
  readonly columns: readonly string[]
  /** What a click on a header does, as a tooltip: “Sort all wallets (1 credit)”. */
  readonly hint: string
  readonly sort: (sorting: Sorting) => void
}

/**
 * A table that sorts by clicks on its headers. On a narrow screen it scrolls sideways within itself
 * and its first column stays. Without `sorting`, the rows keep their order until the first click.
 */
export function DataTable<Row>(props: {
  readonly caption: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string | number
  readonly sorting?: Sorting
  readonly serverSorting?: ServerSorting
  readonly rowClass?: (row: Row) => string
  readonly details?: RowDetails<Row>
}) {
  const { caption, columns, rows, rowKey, rowClass, details, serverSorting } = props
  const local = useSortedRows(rows, columns, props.sorting)
  const sorting = serverSorting?.sorting ?? local.sorting
  const [limit, setLimit] = useState(ROWS_PER_STEP)
  const id = useId()
  const isSortable = ({ key, sortValue }: TableColumn<Row>) =>
    serverSorting?.columns.includes(key) ?? sortValue !== undefined
  const sortBy = ({ key, isAscendingFirst }: TableColumn<Row>) =>
    (serverSorting?.sort ?? local.sort)(nextSorting(sorting, key, isAscendingFirst !== true))
  return (
    <div class="data-table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls this area */}
      <section class="scroll" aria-labelledby={id} tabIndex={0}>
        <table>
          <caption id={id}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <SortableHeader
                  key={column.key}
                  column={column}
                  sorting={sorting}
                  hint={serverSorting?.hint}
                  sort={isSortable(column) ? () => sortBy(column) : undefined}
                />
              ))}
              {details !== undefined && <th scope="col">Details</th>}
            </tr>
          </thead>
          <tbody>
            {(serverSorting === undefined ? local.sortedRows : rows).slice(0, limit).map((row) => (
              <DataTableRow
                key={rowKey(row)}
                row={row}
                columns={columns}
                rowClass={rowClass?.(row) ?? ''}
                details={details}
              />
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > limit && (
        <button type="button" onClick={() => setLimit(limit + ROWS_PER_STEP)}>
          Show {Math.min(ROWS_PER_STEP, rows.length - limit)} more of {rows.length} rows
        </button>
      )}
    </div>
  )
}

function useSortedRows<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  initial: Sorting = { column: '', descending: false },
) {
  const [sorting, sort] = useState(initial)
  const sortedRows = useMemo(() => {
    const sortValueOf = columns.find(({ key }) => key === sorting.column)?.sortValue
    return sortValueOf === undefined ? rows : sortRows(rows, sortValueOf, sorting.descending)
  }, [rows, columns, sorting])
  return { sortedRows, sorting, sort }
}
