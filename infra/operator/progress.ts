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
 * Returns a report that shows progress on `stream`: a bar on a terminal, JSON lines otherwise (rule
 * J3). Lines come at most once a second, a bar ten times; the last progress is always shown.
 */
export function reportTo(stream: NodeJS.WriteStream, now: () => number = Date.now): Report {
  let shownAt = Number.NEGATIVE_INFINITY
  return (progress) => {
    const isLast = progress.done === progress.total
    if (!isLast && now() - shownAt < (stream.isTTY ? LINE_MS / 10 : LINE_MS)) return
    shownAt = now()
    if (stream.isTTY) stream.write(`\r${barOf(progress)}${isLast ? '\n' : ''}`)
    else stream.write(`${JSON.stringify({ progress })}\n`)
  }
}

function barOf({ what, done, total, detail }: Progress): string {
  const beside = detail === undefined ? '' : `, ${detail.done} ${detail.what}`
  if (total === null) return `${done} ${what}${beside}`
  const filled = total === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * done) / total)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done}/${total} ${what}${beside}`
}
