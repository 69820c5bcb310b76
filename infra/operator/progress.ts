/** How far a command is. */
export interface Progress {
  /** What is counted, for example `wallets`. */
  readonly what: string
  readonly done: number
  /** Null while it is not known how many there are. */
  readonly total: number | null
  /** What is counted beside it, for example `transactions`. */
  readonly detail?: { readonly what: string; readonly done: number }
}

/** Told of progress by a command that takes long; a command may tell as often as it likes. */
export type Report = (progress: Progress) => void

const LINE_MS = 1000
const BAR_WIDTH = 30

/** Shows progress on stderr: a bar on a terminal, JSON lines otherwise (rule J3), at most one a second and the last always. */
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
