/** Lines of each icon in a square of 16 units. */
const LINES = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5 14 14',
  star: 'M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6Z',
  copy: 'M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5 6.5 12 13 4.5',
  external: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7 9',
  curve: 'M2 12 6 7l3 3 5-7',
} as const

/** A small drawing beside or in place of a word. Screen readers skip it. */
export function Icon(props: {
  readonly name: keyof typeof LINES
  /** Whether its area is filled, as that of a star that is on. */
  readonly isFilled?: boolean
}) {
  return (
    <svg
      class={props.isFilled === true ? 'icon filled' : 'icon'}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={LINES[props.name]} />
    </svg>
  )
}
