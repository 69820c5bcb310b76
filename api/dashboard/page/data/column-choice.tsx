import { useAtom } from '../atom.ts'
import { createStoredAtom } from '../stored-atom.ts'
import type { TableColumn } from './table-column.ts'

/** Keys of the columns that the customer chose, by table. They survive a reload. */
const chosen = createStoredAtom<Readonly<Record<string, readonly string[]>>>(
  'columns',
  {},
  parseChoices,
)

/**
 * Returns the columns of a table that the customer wants to see, in the order of `columns`, and the
 * function that shows or hides one. The first column is always shown.
 */
export function useChosenColumns<Row>(
  table: string,
  columns: readonly TableColumn<Row>[],
  defaults: readonly string[],
): {
  readonly shown: readonly TableColumn<Row>[]
  readonly choose: (column: string, isShown: boolean) => void
} {
  const all = useAtom(chosen)
  const keys = all[table] ?? defaults
  return {
    shown: columns.filter(({ key }, index) => index === 0 || keys.includes(key)),
    choose: (column, isShown) =>
      chosen.set({
        ...all,
        [table]: isShown ? [...keys, column] : keys.filter((key) => key !== column),
      }),
  }
}

/** A menu of the columns of a table, each with a checkbox. */
export function ColumnMenu<Row>(props: {
  readonly columns: readonly TableColumn<Row>[]
  readonly shown: readonly TableColumn<Row>[]
  readonly choose: (column: string, isShown: boolean) => void
}) {
  const { columns, shown, choose } = props
  return (
    <details class="menu">
      <summary>Columns</summary>
      <fieldset>
        <legend>Columns of the table</legend>
        {columns.slice(1).map((column) => (
          <label key={column.key} class="choice" title={column.description ?? ''}>
            <input
              type="checkbox"
              checked={shown.includes(column)}
              onChange={({ currentTarget }) => choose(column.key, currentTarget.checked)}
            />
            {column.title}
          </label>
        ))}
      </fieldset>
    </details>
  )
}

function parseChoices(stored: unknown): Readonly<Record<string, readonly string[]>> | null {
  if (typeof stored !== 'object' || stored === null) return null
  return Object.fromEntries(
    Object.entries(stored).filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry[1]) && entry[1].every((key) => typeof key === 'string'),
    ),
  )
}
