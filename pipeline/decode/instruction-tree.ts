import type { Instruction } from '../domain/transaction.ts'

/**
 * Call tree of a list of instructions in order of execution. All numbers are indexes into that
 * list.
 */
export interface InstructionTree {
  /** First index after the instruction and everything it called. */
  readonly end: Uint16Array
  /** The top-level instruction above this one; itself for a top-level one. */
  readonly top: Uint16Array
  /** Indexes of the top-level instructions. */
  readonly tops: readonly number[]
}

/**
 * Builds the tree from the stack heights in one pass. A height that skips levels counts as one
 * level deeper.
 */
export function buildInstructionTree(instructions: readonly Instruction[]): InstructionTree {
  const count = instructions.length
  const end = new Uint16Array(count).fill(count)
  const top = new Uint16Array(count)
  const tops: number[] = []
  const open: number[] = [] // callers of the current instruction, outermost first
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
