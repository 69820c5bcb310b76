import type { Instruction } from '../../domain/transaction.ts'

/** Instructions called by the top-level instruction number `index`, in order of execution. */
export interface InnerGroup {
  readonly index: number
  readonly instructions: readonly Instruction[]
}

/** Puts each top-level instruction before what it called: the order in which they ran. */
export function listInstructions(
  top: readonly Instruction[],
  groups: readonly InnerGroup[],
): Instruction[] {
  const list: Instruction[] = []
  // Groups come in the order of their top-level instructions; an index that comes twice is joined.
  for (let i = 0; i < top.length; i++) {
    list.push(top[i]!)
    for (const group of groups) {
      if (group.index === i) for (const inner of group.instructions) list.push(inner)
    }
  }
  return list
}

/**
 * Stack heights of a list whose inner instructions came without them (blocks before Solana 1.14.6), read from the lines
 * `Program <id> invoke [n]` of the logs. Unchanged when the logs are cut short or do not match the instructions.
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
      heights.push(1) // signature checks run without a line
    } else {
      return [...list]
    }
  }
  if (next !== invokes.length) return [...list]
  return list.map((instruction, i) => ({ ...instruction, stackHeight: heights[i]! }))
}
