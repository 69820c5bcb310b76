// biome-ignore-all lint/a11y/noRedundantRoles: with a card layout, some readers ignore the table
import { useId } from 'preact/hooks'
import type { Sorting } from './sorting.ts'
import type { TableColumn } from './table-column.ts'

/** A column header. A click on it sorts the table if the column can be sorted. */
export function SortableHeader<Row>(props: {
  readonly column: TableColumn<Row>
  readonly sorting: Sorting
  readonly sort: () => void
}) {
  const { column, sorting, sort } = props
  const isSorted = sorting.column === column.key
  const direction = sorting.descending ? 'descending' : 'ascending'
  return (
    <th
      role="columnheader"
      scope="col"
      class={column.isNumeric === true ? 'is-number' : ''}
      aria-sort={isSorted ? direction : 'none'}
    >
      {column.sortValue === undefined ? (
        <span title={column.description ?? ''}>{column.title}</span>
      ) : (
        <button type="button" class="sort" onClick={sort} title={column.description ?? ''}>
          {column.title}
          {isSorted && <span aria-hidden="true">{sorting.descending ? '▾' : '▴'}</span>}
        </button>
      )}
    </th>
  )
}

/** A menu that sorts the table on narrow screens, where rows are cards without headers. */
export function SortControl<Row>(props: {
  readonly columns: readonly TableColumn<Row>[]
  readonly sorting: Sorting
  readonly sortBy: (column: TableColumn<Row>) => void
}) {
  const { sorting, sortBy } = props
  const id = useId()
  const columns = props.columns.filter(({ sortValue }) => sortValue !== undefined)
  const current = columns.find(({ key }) => key === sorting.column)
  if (columns.length === 0) return null
  return (
    <p class="sort-by">
      <label for={id}>Sort by</label>
      <select
        id={id}
        value={sorting.column}
        onChange={({ currentTarget }) => {
          const selected = columns.find(({ key }) => key === currentTarget.value)
          if (selected !== undefined) sortBy(selected)
        }}
      >
        {current === undefined && <option value={sorting.column}>original order</option>}
        {columns.map(({ key, title }) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {current !== undefined && (
        <button type="button" title="Reverse the order" onClick={() => sortBy(current)}>
          {sorting.descending ? 'descending' : 'ascending'}
          <span aria-hidden="true">{sorting.descending ? '▾' : '▴'}</span>
        </button>
      )}
    </p>
  )
}
