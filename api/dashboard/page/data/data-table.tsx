// biome-ignore-all lint/a11y/noRedundantRoles: with a card layout, some readers ignore the table
import { useMemo, useState } from 'preact/hooks'
import { DataTableRow } from './data-table-row.tsx'
import { SortableHeader, SortControl } from './sort-controls.tsx'
import { nextSorting, type Sorting, sortRows } from './sorting.ts'
import type { RowDetails, TableColumn } from './table-column.ts'

/** How many rows are rendered at first, and how many each click on “Show more” adds. */
const ROWS_PER_STEP = 50

/**
 * A table that sorts by clicks on its headers. On a narrow screen each row is a card.
 * Without `sorting`, the rows keep their order until the first click.
 */
export function DataTable<Row>(props: {
  readonly caption: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string | number
  readonly sorting?: Sorting
  readonly rowClass?: (row: Row) => string
  readonly details?: RowDetails<Row>
}) {
  const { caption, columns, rows, rowKey, rowClass, details } = props
  const { sortedRows, sorting, sortBy } = useSortedRows(rows, columns, props.sorting)
  const [limit, setLimit] = useState(ROWS_PER_STEP)
  return (
    <div class="data-table">
      <SortControl columns={columns} sorting={sorting} sortBy={sortBy} />
      <table role="table">
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <SortableHeader
                key={column.key}
                column={column}
                sorting={sorting}
                sort={() => sortBy(column)}
              />
            ))}
            {details !== undefined && (
              <th role="columnheader" scope="col">
                Details
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sortedRows.slice(0, limit).map((row) => (
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
  const [sorting, setSorting] = useState(initial)
  const sortedRows = useMemo(() => {
    const sortValueOf = columns.find(({ key }) => key === sorting.column)?.sortValue
    return sortValueOf === undefined ? rows : sortRows(rows, sortValueOf, sorting.descending)
  }, [rows, columns, sorting])
  const sortBy = ({ key, isAscendingFirst }: TableColumn<Row>) =>
    setSorting(nextSorting(sorting, key, isAscendingFirst !== true))
  return { sortedRows, sorting, sortBy }
}
