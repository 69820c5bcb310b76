/** What a list is sorted by, and which way. */
export interface Sorting {
  readonly column: string
  readonly descending: boolean
}

/** What a cell counts as when its column is sorted; null: nothing known, always last. */
export type SortValue = number | string | bigint | null

/** The rows in order: equal ones stay as they came, unknown ones go last whichever way. */
export function sorted<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => SortValue,
  descending: boolean,
): Row[] {
  return rows
    .map((row) => ({ row, value: keyOf(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null)
      const order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0
      return descending ? -order : order
    })
    .map(({ row }) => row)
}

/** What a click on a column asks for: the other way round when it is the one sorted by, else its own first way. */
export function sortedBy(current: Sorting, column: string, firstDescending: boolean): Sorting {
  return current.column === column
    ? { column, descending: !current.descending }
    : { column, descending: firstDescending }
}

/** The number of an alias, so that W10 comes after W9. */
export function aliasNumber(alias: string): number {
  return Number(alias.slice(1))
}
