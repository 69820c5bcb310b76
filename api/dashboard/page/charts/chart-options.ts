import type uPlot from 'uplot'
import { formatTime } from '../data/format.ts'
import type { ChartSeries } from './chart-series.ts'

/** Height of a chart in pixels. */
export const CHART_HEIGHT = 260

/** Returns uPlot's options for series drawn into `element`, with the colours of its theme. */
export function chartOptions(
  Plot: typeof uPlot,
  element: HTMLElement,
  series: readonly ChartSeries[],
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim() || style.color
  const hasBars = series.some(({ shape }) => shape === 'bars')
  return {
    width: element.clientWidth,
    height: CHART_HEIGHT,
    scales: { x: { time: true, ...(hasBars && { range: rangeWithMargins }) } },
    cursor: { drag: { x: true, y: false } },
    axes: axes(series, colour),
    series: [
      { label: 'Time', value: (_plot, time) => (time === null ? '–' : localTime(time)) },
      ...series.map((one) => plotSeries(Plot, one, colour(one.colour))),
    ],
  }
}

function axes(series: readonly ChartSeries[], colour: (name: string) => string): uPlot.Axis[] {
  const base = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 } }
  const left = series.find(({ isRight }) => isRight !== true)
  const right = series.find(({ isRight }) => isRight === true)
  const values = (one: ChartSeries) => (_plot: uPlot, splits: number[]) => splits.map(one.text)
  return [
    { ...base, space: 90, values: (_plot, splits, _axis, _space, step) => timeTexts(splits, step) },
    ...(left === undefined
      ? []
      : [{ ...base, size: axisWidth, scale: 'left', values: values(left) }]),
    ...(right === undefined
      ? []
      : [{ ...base, size: axisWidth, scale: 'right', side: 1 as const, values: values(right) }]),
  ]
}

function plotSeries(Plot: typeof uPlot, one: ChartSeries, stroke: string): uPlot.Series {
  const path = {
    line: Plot.paths.linear?.(),
    steps: Plot.paths.stepped?.({ align: 1 }),
    bars: Plot.paths.bars?.({ size: [0.8, 40] }),
    buys: noLine,
    sells: noLine,
  }[one.shape]
  return {
    label: one.label,
    scale: one.isRight === true ? 'right' : 'left',
    stroke,
    width: 2,
    ...(one.isDashed === true && { dash: [6, 4] }),
    ...(one.shape === 'bars' && { fill: stroke }),
    ...(path !== undefined && { paths: path }),
    points:
      one.shape === 'buys' || one.shape === 'sells'
        ? { show: true, paths: triangles(one.shape === 'buys' ? 1 : -1), fill: stroke }
        : { show: one.shape === 'line' && one.values.length <= 200, size: 5 },
    value: (_plot, value) => (value === null ? '–' : one.text(value)),
  }
}

const noLine = () => null

/** Draws a triangle at each point: upwards for direction 1, downwards for -1. */
function triangles(direction: 1 | -1): uPlot.Series.Points.PathBuilder {
  return (plot, seriesIndex, from, to) => {
    const size = 5 * devicePixelRatio
    const path = new Path2D()
    const values = plot.data[seriesIndex] ?? []
    const scale = plot.series[seriesIndex]?.scale ?? 'left'
    for (let index = from; index <= to; index++) {
      const [time, value] = [plot.data[0][index], values[index]]
      if (time === undefined || value === null || value === undefined) continue
      const x = plot.valToPos(time, 'x', true)
      const y = plot.valToPos(value, scale, true)
      path.moveTo(x, y - direction * size)
      path.lineTo(x + size, y + direction * size)
      path.lineTo(x - size, y + direction * size)
      path.closePath()
    }
    return { stroke: null, fill: path }
  }
}

/** Returns the width of an axis in pixels for its longest text. */
function axisWidth(_plot: uPlot, texts: string[] | null): number {
  return 24 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length))
}

/** Extends the time range so that the first and the last bar are not cut off. */
function rangeWithMargins({ data: [times] }: uPlot, min: number, max: number): [number, number] {
  const half = ((times[1] ?? min + 60) - (times[0] ?? min)) / 2
  return [min - half, max + half]
}

/** Formats the times of an axis. `step` is their distance in seconds. */
function timeTexts(times: readonly number[], step: number): string[] {
  return times.map((time) => {
    const text = localTime(time)
    return step >= 86_400
      ? text.slice(0, 10)
      : text.slice(step >= 3600 ? 5 : 11, step >= 60 ? 16 : 19)
  })
}

function localTime(unix: number): string {
  return formatTime(unix, new Date(unix * 1000).getTimezoneOffset()).text
}
