// biome-ignore-all lint/a11y/noRedundantRoles: with a card layout, some readers ignore the table
import { useState } from 'preact/hooks'
import type { RowDetails, TableColumn } from './table-column.ts'

/** A row of a `DataTable`, and below it its details while they are open. */
export function DataTableRow<Row>(props: {
  readonly row: Row
  readonly columns: readonly TableColumn<Row>[]
  readonly rowClass: string
  readonly details: RowDetails<Row> | undefined
}) {
  const { row, columns, rowClass, details } = props
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <tr role="row" class={rowClass}>
        {columns.map(({ key, title, isNumeric, cell }) => (
          <td
            role="cell"
            key={key}
            data-label={title}
            class={isNumeric === true ? 'is-number' : ''}
          >
            {cell(row)}
          </td>
        ))}
        {details !== undefined && (
          <td role="cell" data-label="Details">
            <button
              type="button"
              class="small"
              aria-expanded={isOpen}
              aria-label={`${isOpen ? 'Hide' : 'Show'} details of ${details.label(row)}`}
              onClick={() => setIsOpen(!isOpen)}
            >
              {isOpen ? 'Hide' : 'Show'}
            </button>
          </td>
        )}
      </tr>
      {isOpen && details !== undefined && (
        <tr role="row" class="more">
          <td role="cell" colSpan={columns.length + 1}>
            {details.show(row)}
          </td>
        </tr>
      )}
    </>
  )
}
