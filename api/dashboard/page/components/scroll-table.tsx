import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A plain table. On a narrow screen it scrolls sideways within itself. */
export function ScrollTable(props: {
  readonly caption: string
  /** Titles of the columns. */
  readonly head: readonly string[]
  /** Indexes of the columns with numbers, which are aligned right. */
  readonly numericColumns?: readonly number[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}) {
  const { caption, head, numericColumns = [], rows } = props
  const classOf = (column: number) => (numericColumns.includes(column) ? 'is-number' : '')
  const id = useId()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
    <section class="table" aria-labelledby={id} tabIndex={0}>
      <table>
        <caption id={id}>{caption}</caption>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={classOf(column)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={head[column]} class={classOf(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
