/** The progress of a command. */
export interface Progress {
  /** Unit of the count, for example `wallets`. */
  readonly what: string
  readonly done: number
  /** Null while the total is unknown. */
  readonly total: number | null
  /** A second count, for example of `transactions`. */
  readonly detail?: { readonly what: string; readonly done: number }
}

/** Called by a long command with its progress, as often as the command likes. */
export type Report = (progress: Progress) => void

const LINE_MS = 1000
const BAR_WIDTH = 30

/**
 * Returns a report that shows progress on `stream`: on a terminal a bar with the rate and the time
 * left, JSON lines otherwise (rule J3). Lines come at most once a second, a bar ten times; the last
 * progress is always shown.
 */
export function reportTo(stream: NodeJS.WriteStream, now: () => number = Date.now): Report {
  let shownAt = Number.NEGATIVE_INFINITY
  let first: { readonly what: string; readonly done: number; readonly at: number } | null = null
  return (progress) => {
    const isLast = progress.done === progress.total
    const at = now()
    if (first?.what !== progress.what) first = { what: progress.what, done: progress.done, at }
    if (!isLast && at - shownAt < (stream.isTTY ? LINE_MS / 10 : LINE_MS)) return
    shownAt = at
    const perSecond = ((progress.done - first.done) * 1000) / (at - first.at)
    if (stream.isTTY) stream.write(`\r${barOf(progress)}${paceOf(progress, perSecond)}\x1b[K`)
    if (stream.isTTY && isLast) stream.write('\n')
    if (!stream.isTTY) stream.write(`${JSON.stringify({ progress })}\n`)
  }
}

function barOf({ what, done, total, detail }: Progress): string {
  const beside = detail === undefined ? '' : `, ${detail.done} ${detail.what}`
  if (total === null) return `${done} ${what}${beside}`
  const filled = total === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * done) / total)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done}/${total} ${what}${beside}`
}

/** Rate and time left; '' before anything was done. */
function paceOf({ done, total }: Progress, perSecond: number): string {
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) return ''
  const rate = `, ${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)}/s`
  if (total === null || done >= total) return rate
  const seconds = Math.ceil((total - done) / perSecond)
  if (seconds < 100) return `${rate}, ${seconds} s left`
  const minutes = Math.ceil(seconds / 60)
  return `${rate}, ${minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`} left`
}
