import type { Instruction } from '../domain/transaction.ts'

/** Who called whom, for a list of instructions in order of execution. All indexes are places in that list. */
export interface InstructionTree {
  /** First place after the instruction and everything it called. */
  readonly end: Uint16Array
  /** The top-level instruction that led to this one (itself for a top-level one). */
  readonly top: Uint16Array
  /** Places of the top-level instructions. */
  readonly tops: readonly number[]
}

/** Reads the tree off the stack heights in one pass. A height that jumps counts as one level deeper. */
export function instructionTree(instructions: readonly Instruction[]): InstructionTree {
  const count = instructions.length
  const end = new Uint16Array(count).fill(count)
  const top = new Uint16Array(count)
  const tops: number[] = []
  const open: number[] = [] // callers of the instruction in hand, outermost first
  for (let i = 0; i < count; i++) {
    const height = instructions[i]!.stackHeight
    while (open.length > 0 && instructions[open.at(-1)!]!.stackHeight >= height) {
      end[open.pop()!] = i
    }
    if (height <= 1 || open.length === 0) tops.push(i)
    top[i] = tops.at(-1)!
    open.push(i)
  }
  return { end, top, tops }
}
