import type { Sorting } from './sorting.ts'
import type { TableColumn } from './table-column.ts'

/** A column header. With `sort`, a click on it sorts the table. `hint` is added to its tooltip. */
export function SortableHeader<Row>(props: {
  readonly column: TableColumn<Row>
  readonly sorting: Sorting
  readonly hint: string | undefined
  readonly sort: (() => void) | undefined
}) {
  const { column, sorting, hint, sort } = props
  const { title, description = '', isNumeric } = column
  const isSorted = sorting.column === column.key
  const direction = sorting.descending ? 'descending' : 'ascending'
  const tooltip = [description, ...(sort && hint ? [hint] : [])].filter(Boolean).join('. ')
  return (
    <th
      scope="col"
      class={isNumeric === true ? 'is-number' : ''}
      aria-sort={isSorted ? direction : 'none'}
    >
      {sort === undefined ? (
        <span title={tooltip}>{title}</span>
      ) : (
        <button type="button" class="sort" onClick={sort} title={tooltip}>
          {title}
          <span aria-hidden="true">{isSorted ? (sorting.descending ? '▾' : '▴') : ''}</span>
        </button>
      )}
    </th>
  )
}
