// biome-ignore-all lint/a11y/noRedundantRoles: without them a table that is laid out as cards is none to some readers
import type { ComponentChildren } from 'preact'
import { useId, useMemo, useState } from 'preact/hooks'
import { type Sorting, type SortValue, sorted, sortedBy } from './sorting.ts'

/** A column of a list. */
export interface Column<Row> {
  readonly key: string
  readonly title: string
  /** What the column means, for whoever asks. */
  readonly about?: string
  /** Figures stand at the right. */
  readonly isFigure?: boolean
  readonly cell: (row: Row) => ComponentChildren
  /** What it is sorted by; a column without it cannot be sorted. */
  readonly value?: (row: Row) => SortValue
  /** The first click on it sorts upwards, as names are read. */
  readonly isUpwards?: boolean
}

/**
 * A list that is sorted by clicks on its heads; on a narrow screen each row is a card whose cells say what they are. Without `sorting` the rows come as they are given.
 */
export function DataTable<Row>(props: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string | number
  readonly sorting?: Sorting
  readonly rowClass?: (row: Row) => string
  /** What is shown below a row that was opened. */
  readonly more?: {
    readonly label: (row: Row) => string
    readonly show: (row: Row) => ComponentChildren
  }
}) {
  const { caption, columns, rows, rowKey, rowClass, more } = props
  const [sorting, setSorting] = useState<Sorting>(
    props.sorting ?? { column: '', descending: false },
  )
  const [opened, setOpened] = useState<ReadonlySet<string | number>>(new Set())
  const inOrder = useMemo(() => {
    const value = columns.find(({ key }) => key === sorting.column)?.value
    return value === undefined ? rows : sorted(rows, value, sorting.descending)
  }, [rows, columns, sorting])
  const [most, setMost] = useState(STEP)
  const toggle = (key: string | number) => {
    const next = new Set(opened)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  const sort = ({ key, isUpwards }: Column<Row>) =>
    setSorting(sortedBy(sorting, key, isUpwards !== true))
  return (
    <div class="data-table">
      <SortBy columns={columns} sorting={sorting} sort={sort} />
      <table role="table">
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Head key={column.key} column={column} sorting={sorting} sort={() => sort(column)} />
            ))}
            {more !== undefined && (
              <th role="columnheader" scope="col">
                Details
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {inOrder.slice(0, most).map((row) => {
            const key = rowKey(row)
            const isOpen = opened.has(key)
            return [
              <tr role="row" key={key} class={rowClass?.(row) ?? ''}>
                {columns.map(({ key: column, title, isFigure, cell }) => (
                  <td
                    role="cell"
                    key={column}
                    data-label={title}
                    class={isFigure === true ? 'is-figure' : ''}
                  >
                    {cell(row)}
                  </td>
                ))}
                {more !== undefined && (
                  <td role="cell" data-label="Details">
                    <button
                      type="button"
                      class="small"
                      aria-expanded={isOpen}
                      aria-label={`${isOpen ? 'Less' : 'More'} about ${more.label(row)}`}
                      onClick={() => toggle(key)}
                    >
                      {isOpen ? 'Less' : 'More'}
                    </button>
                  </td>
                )}
              </tr>,
              isOpen && more !== undefined && (
                <tr role="row" key={`${key} more`} class="more">
                  <td role="cell" colSpan={columns.length + 1}>
                    {more.show(row)}
                  </td>
                </tr>
              ),
            ]
          })}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show {Math.min(STEP, rows.length - most)} more of {rows.length}
        </button>
      )}
    </div>
  )
}

/** How many rows are drawn at first, and with each wish for more. */
const STEP = 50

/** In the place of heads that can be clicked, where rows are cards. */
function SortBy<Row>(props: {
  readonly columns: readonly Column<Row>[]
  readonly sorting: Sorting
  readonly sort: (column: Column<Row>) => void
}) {
  const { sorting, sort } = props
  const id = useId()
  const columns = props.columns.filter(({ value }) => value !== undefined)
  const current = columns.find(({ key }) => key === sorting.column)
  if (columns.length === 0) return null
  return (
    <p class="sort-by">
      <label for={id}>Sort by</label>
      <select
        id={id}
        value={sorting.column}
        onChange={({ currentTarget }) => {
          const chosen = columns.find(({ key }) => key === currentTarget.value)
          if (chosen !== undefined) sort(chosen)
        }}
      >
        {current === undefined && <option value={sorting.column}>as listed</option>}
        {columns.map(({ key, title }) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {current !== undefined && (
        <button type="button" title="Turn the order round" onClick={() => sort(current)}>
          {sorting.descending ? 'descending' : 'ascending'}
          <span aria-hidden="true">{sorting.descending ? '▾' : '▴'}</span>
        </button>
      )}
    </p>
  )
}

function Head<Row>(props: {
  readonly column: Column<Row>
  readonly sorting: Sorting
  readonly sort: () => void
}) {
  const { column, sorting, sort } = props
  const isSorted = sorting.column === column.key
  const way = sorting.descending ? 'descending' : 'ascending'
  return (
    <th
      role="columnheader"
      scope="col"
      class={column.isFigure === true ? 'is-figure' : ''}
      aria-sort={isSorted ? way : 'none'}
    >
      {column.value === undefined ? (
        <span title={column.about ?? ''}>{column.title}</span>
      ) : (
        <button type="button" class="sort" onClick={sort} title={column.about ?? ''}>
          {column.title}
          {isSorted && <span aria-hidden="true">{sorting.descending ? '▾' : '▴'}</span>}
        </button>
      )}
    </th>
  )
}
