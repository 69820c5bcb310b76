import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { timeFigure } from '../data/figures.ts'

/** A line, steps or bars over time. */
export interface Series {
  readonly label: string
  /** The name of a variable of the page's colours, such as `--good`. */
  readonly colour: string
  readonly shape: 'line' | 'steps' | 'bars'
  readonly values: readonly (number | null)[]
  readonly text: (value: number) => string
  /** Scaled at the right, apart from the others. */
  readonly isRight?: boolean
  /** Told apart without colour. */
  readonly isDashed?: boolean
}

/**
 * Series over time, drawn for the eye; `children` say the same for everybody else: a summary in words, and the figures as a table that can be opened.
 * `times` unix seconds, ascending. The library comes with the first chart that is shown.
 */
export function Chart(props: {
  readonly title: string
  readonly summary: string
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly children?: ComponentChildren
}) {
  const { title, summary, times, series } = props
  const holder = useRef<HTMLDivElement>(null)
  const [hasFailed, setHasFailed] = useState(false)
  const scheme = useScheme()
  useEffect(() => {
    const element = holder.current
    if (element === null || times.length === 0) return
    let plot: uPlot | null = null
    let isGone = false
    const watch = new ResizeObserver(() => {
      if (plot !== null && element.clientWidth > 0)
        plot.setSize({ width: element.clientWidth, height: HEIGHT })
    })
    wearStyle()
    import('uplot').then(
      ({ default: Plot }) => {
        if (isGone) return
        const data: uPlot.AlignedData = [[...times], ...series.map(({ values }) => [...values])]
        plot = new Plot(options(Plot, element, series), data, element)
        watch.observe(element)
      },
      () => setHasFailed(true),
    )
    return () => {
      isGone = true
      watch.disconnect()
      plot?.destroy()
    }
  }, [times, series, scheme])
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}.</strong> {summary}
      </figcaption>
      {hasFailed && <p>The chart could not be drawn; the figures are below.</p>}
      <div ref={holder} class="plot" aria-hidden="true" />
      {props.children !== undefined && (
        <details>
          <summary>{title}: the figures as a table</summary>
          {props.children}
        </details>
      )}
    </figure>
  )
}

const HEIGHT = 260

/** What the library's parts look like comes with the first chart, too. */
function wearStyle(): void {
  const href = '/dashboard/lib/uplot.css'
  if (document.querySelector(`link[href="${href}"]`) !== null) return
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = href
  document.head.append(link)
}

function options(
  Plot: typeof uPlot,
  element: HTMLElement,
  series: readonly Series[],
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim() || style.color
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 } }
  const lines = { ...axis, size: widthOf }
  const left = series.find(({ isRight }) => isRight !== true)
  const hasBars = series.some(({ shape }) => shape === 'bars')
  const right = series.find(({ isRight }) => isRight === true)
  const values = (one: Series) => (_plot: uPlot, splits: number[]) => splits.map(one.text)
  const paths = {
    line: Plot.paths.linear?.(),
    steps: Plot.paths.stepped?.({ align: 1 }),
    bars: Plot.paths.bars?.({ size: [0.8, 40] }),
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    scales: { x: { time: true, ...(hasBars && { range: withRoom }) } },
    cursor: { drag: { x: true, y: false } },
    axes: [
      { ...axis, space: 90, values: (_plot, splits, _axis, _space, step) => clocks(splits, step) },
      ...(left === undefined ? [] : [{ ...lines, scale: 'left', values: values(left) }]),
      ...(right === undefined
        ? []
        : [{ ...lines, scale: 'right', side: 1 as const, values: values(right) }]),
    ],
    series: [
      { label: 'Time', value: (_plot, time) => (time === null ? '–' : localTime(time)) },
      ...series.map((one): uPlot.Series => {
        const path = paths[one.shape]
        const stroke = colour(one.colour)
        return {
          label: one.label,
          scale: one.isRight === true ? 'right' : 'left',
          stroke,
          width: 2,
          ...(one.isDashed === true && { dash: [6, 4] }),
          ...(one.shape === 'bars' && { fill: stroke }),
          ...(path !== undefined && { paths: path }),
          points: { show: one.shape === 'line' && one.values.length <= 200, size: 5 },
          value: (_plot, value) => (value === null ? '–' : one.text(value)),
        }
      }),
    ],
  }
}

/** Room for the texts of an axis, in pixels. */
function widthOf(_plot: uPlot, texts: string[] | null): number {
  return 24 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length))
}

/** So that the first and the last bar are whole. */
function withRoom({ data: [times] }: uPlot, min: number, max: number): [number, number] {
  const half = ((times[1] ?? min + 60) - (times[0] ?? min)) / 2
  return [min - half, max + half]
}

/** Times below an axis, as exact as they are apart. */
function clocks(times: readonly number[], step: number): string[] {
  return times.map((time) => {
    const text = localTime(time)
    return step >= 86_400
      ? text.slice(0, 10)
      : text.slice(step >= 3600 ? 5 : 11, step >= 60 ? 16 : 19)
  })
}

function localTime(unix: number): string {
  return timeFigure(unix, new Date(unix * 1000).getTimezoneOffset()).text
}

/** Counts up whenever light turns to dark or back. */
function useScheme(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const changed = () => setCount((now) => now + 1)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  return count
}
