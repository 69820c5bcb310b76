import type { Instruction } from '../../domain/transaction.ts'

/** The inner instructions of the top-level instruction at `index`, in order of execution. */
export interface InnerGroup {
  readonly index: number
  readonly instructions: readonly Instruction[]
}

/** All instructions in order of execution: each top-level one, then its inner instructions. */
export function listInstructions(
  top: readonly Instruction[],
  groups: readonly InnerGroup[],
): Instruction[] {
  const list: Instruction[] = []
  // Groups with the same index are joined.
  for (let i = 0; i < top.length; i++) {
    list.push(top[i]!)
    for (const group of groups) {
      if (group.index === i) for (const inner of group.instructions) list.push(inner)
    }
  }
  return list
}

/**
 * The instructions with their stack heights, read from the log lines `Program <id> invoke [n]`.
 * Blocks before Solana 1.14.6 have no stack heights. Returns the instructions unchanged when the
 * logs are truncated or do not match.
 */
export function heightsFromLogs(
  list: readonly Instruction[],
  logs: readonly string[] | null,
  programOf: (instruction: Instruction) => string,
): Instruction[] {
  const heights: number[] = []
  const invokes = (logs ?? []).flatMap((line) => {
    const match = /^Program (\S+) invoke \[(\d+)\]$/.exec(line)
    return match === null ? [] : [{ program: match[1], height: Number(match[2]) }]
  })
  let next = 0
  for (const instruction of list) {
    const invoke = invokes[next]
    const isTop = instruction.stackHeight === 1
    if (invoke?.program === programOf(instruction) && isTop === (invoke.height === 1)) {
      heights.push(invoke.height)
      next++
    } else if (isTop) {
      heights.push(1) // precompiles such as signature checks write no log line
    } else {
      return [...list]
    }
  }
  if (next !== invokes.length) return [...list]
  return list.map((instruction, i) => ({ ...instruction, stackHeight: heights[i]! }))
}
