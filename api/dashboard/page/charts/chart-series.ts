/** A data series of a chart. */
export interface ChartSeries {
  readonly label: string
  /** Name of a CSS colour variable, such as `--good`. */
  readonly colour: string
  /** `buys` and `sells` are triangles up and down, without a line. */
  readonly shape: 'line' | 'steps' | 'bars' | 'buys' | 'sells'
  readonly values: readonly (number | null)[]
  /** Formats a value for the axis and the legend. */
  readonly text: (value: number) => string
  /** The series has a separate scale on the right. */
  readonly isRight?: boolean
  /** Dashed lines tell series apart without colour. */
  readonly isDashed?: boolean
}
