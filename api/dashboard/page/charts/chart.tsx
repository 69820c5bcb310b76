import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { CHART_HEIGHT, chartOptions } from './chart-options.ts'
import type { ChartSeries } from './chart-series.ts'

/**
 * A chart of series over time. The drawing is hidden from screen readers; `summary` says the same
 * in words, and `children` is a table of the values that can be opened.
 * `times` are unix seconds, ascending. The chart library is loaded with the first chart.
 */
export function Chart(props: {
  readonly title: string
  readonly summary: string
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly children: ComponentChildren
}) {
  const { title, summary, times, series } = props
  const { container, hasFailed } = usePlot(times, series)
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}.</strong> {summary}
      </figcaption>
      {hasFailed && <p>The chart could not be loaded. Open the table for its values.</p>}
      <div ref={container} class="plot" aria-hidden="true" />
      <details>
        <summary>{title}: show as a table</summary>
        {props.children}
      </details>
    </figure>
  )
}

/** Draws the series into the element of the returned ref, and again when they change. */
function usePlot(times: readonly number[], series: readonly ChartSeries[]) {
  const container = useRef<HTMLDivElement>(null)
  const [hasFailed, setHasFailed] = useState(false)
  const themeChanges = useThemeChanges()
  useEffect(() => {
    const element = container.current
    if (element === null || times.length === 0) return
    let plot: uPlot | null = null
    let isUnmounted = false
    const resizes = new ResizeObserver(() => {
      if (plot !== null && element.clientWidth > 0)
        plot.setSize({ width: element.clientWidth, height: CHART_HEIGHT })
    })
    addStylesheet()
    import('uplot').then(
      ({ default: Plot }) => {
        if (isUnmounted) return
        const data: uPlot.AlignedData = [[...times], ...series.map(({ values }) => [...values])]
        plot = new Plot(chartOptions(Plot, element, series), data, element)
        resizes.observe(element)
      },
      () => setHasFailed(true),
    )
    return () => {
      isUnmounted = true
      resizes.disconnect()
      plot?.destroy()
    }
  }, [times, series, themeChanges])
  return { container, hasFailed }
}

/** Adds the stylesheet of the chart library, once. */
function addStylesheet(): void {
  const href = '/dashboard/lib/uplot.css'
  if (document.querySelector(`link[href="${href}"]`) !== null) return
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = href
  document.head.append(link)
}

/** Counts the switches between light and dark. */
function useThemeChanges(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const increment = () => setCount((now) => now + 1)
    query.addEventListener('change', increment)
    return () => query.removeEventListener('change', increment)
  }, [])
  return count
}
