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
      <tr class={rowClass}>
        {columns.map(({ key, isNumeric, cell }) => (
          <td key={key} class={isNumeric === true ? 'is-number' : ''}>
            {cell(row)}
          </td>
        ))}
        {details !== undefined && (
          <td>
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
        <tr class="more">
          <td colSpan={columns.length + 1}>
            <div>{details.show(row)}</div>
          </td>
        </tr>
      )}
    </>
  )
}
