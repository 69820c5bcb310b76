/** The column that a table is sorted by, and the direction. */
export interface Sorting {
  readonly column: string
  readonly descending: boolean
}

/** The value that a row is sorted by. Null is unknown and sorts last. */
export type SortValue = number | string | bigint | null

/** Sorts rows. The sort is stable, and unknown values are last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  sortValueOf: (row: Row) => SortValue,
  descending: boolean,
): Row[] {
  return rows
    .map((row) => ({ row, value: sortValueOf(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null)
      const order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0
      return descending ? -order : order
    })
    .map(({ row }) => row)
}

/** Returns the sorting after a click on a column: reversed if the table is sorted by it already. */
export function nextSorting(current: Sorting, column: string, firstDescending: boolean): Sorting {
  return current.column === column
    ? { column, descending: !current.descending }
    : { column, descending: firstDescending }
}

/** Returns the number of an alias, so that W10 sorts after W9. */
export function aliasNumber(alias: string): number {
  return Number(alias.slice(1))
}
