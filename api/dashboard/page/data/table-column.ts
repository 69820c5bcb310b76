import type { ComponentChildren } from 'preact'
import type { SortValue } from './sorting.ts'

/** A column of a `DataTable`. */
export interface TableColumn<Row> {
  readonly key: string
  readonly title: string
  /** What the column means. It is the tooltip of the header. */
  readonly description?: string
  /** Numbers are aligned right. */
  readonly isNumeric?: boolean
  readonly cell: (row: Row) => ComponentChildren
  /** The value to sort by. A column without it cannot be sorted. */
  readonly sortValue?: (row: Row) => SortValue
  /** The first click sorts ascending, as for names. */
  readonly isAscendingFirst?: boolean
}

/**
 * A column of numbers, sorted by `value`, which `show` renders. `description`: see `TableColumn`.
 */
export function numberColumn<Row, Value extends SortValue>(
  key: string,
  title: string,
  value: (row: Row) => Value,
  show: (value: Value) => ComponentChildren,
  description = '',
): TableColumn<Row> {
  const cell = (row: Row) => show(value(row))
  return { key, title, description, isNumeric: true, sortValue: value, cell }
}

/** What a row shows when it is expanded. */
export interface RowDetails<Row> {
  /** Names the row for the button's label. */
  readonly label: (row: Row) => string
  readonly show: (row: Row) => ComponentChildren
}
