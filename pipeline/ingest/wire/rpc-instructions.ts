import { addressFromBytes } from '../../domain/address.ts'
import type { Instruction } from '../../domain/transaction.ts'
import { heightsFromLogs, type InnerGroup, listInstructions } from './instruction-list.ts'
import { compileParsedInstruction } from './parsed-instruction.ts'
import { base58, isCount, list, MalformedError, record } from './rpc-values.ts'

/**
 * The instructions of an RPC transaction in order of execution. `top` are the instructions of the
 * message, `rawGroups` is `meta.innerInstructions`. Throws `MalformedError`.
 */
export function readRpcInstructions(
  top: readonly unknown[],
  rawGroups: unknown,
  keys: readonly Uint8Array[],
  logs: readonly string[] | null,
): Instruction[] {
  const indexes = new KeyIndexes(keys)
  let hasHeights = true
  const groups = (rawGroups == null ? [] : list(rawGroups, 'bad_instruction')).map((raw) => {
    const group = record(raw)
    if (!isCount(group?.index) || group.index >= top.length) {
      throw new MalformedError('bad_instruction')
    }
    const instructions = list(group.instructions, 'bad_instruction').map((inner) => {
      const height = record(inner)?.stackHeight
      if (!isCount(height)) hasHeights = false
      return readInstruction(inner, indexes, isCount(height) ? height : 2)
    })
    return { index: group.index, instructions } satisfies InnerGroup
  })
  const all = listInstructions(
    top.map((raw) => readInstruction(raw, indexes, 1)),
    groups,
  )
  if (hasHeights) return all
  return heightsFromLogs(all, logs, ({ programIndex }) => addressFromBytes(keys[programIndex]!))
}

/**
 * Indexes of account keys by address. Only encoding `jsonParsed` needs them, so they are made late.
 */
class KeyIndexes {
  readonly count: number
  private readonly keys: readonly Uint8Array[]
  private byAddress: Map<string, number> | undefined

  constructor(keys: readonly Uint8Array[]) {
    this.keys = keys
    this.count = keys.length
  }

  indexOf(address: unknown): number {
    this.byAddress ??= new Map(this.keys.map((key, i) => [addressFromBytes(key), i]))
    const found = typeof address === 'string' ? this.byAddress.get(address) : undefined
    if (found === undefined) throw new MalformedError('bad_instruction')
    return found
  }
}

function readInstruction(raw: unknown, indexes: KeyIndexes, stackHeight: number): Instruction {
  const instruction = record(raw)
  if (instruction === undefined) throw new MalformedError('bad_instruction')
  if (instruction.programIdIndex !== undefined) {
    return readCompiled(instruction, indexes.count, stackHeight)
  }
  const indexOf = (address: unknown) => indexes.indexOf(address)
  const programIndex = indexOf(instruction.programId)
  if (instruction.parsed === undefined) {
    const accounts = Uint8Array.from(list(instruction.accounts, 'bad_instruction'), indexOf)
    const data = base58(instruction.data, 'bad_instruction')
    return { programIndex, accounts, data, stackHeight }
  }
  const compiled = compileParsedInstruction(instruction.program, instruction.parsed)
  const accounts = Uint8Array.from(compiled.accounts, indexOf)
  return { programIndex, accounts, data: compiled.data, stackHeight }
}

/** An instruction that names its program and accounts by index. */
function readCompiled(
  { programIdIndex, accounts, data }: Readonly<Record<string, unknown>>,
  keyCount: number,
  stackHeight: number,
): Instruction {
  const index = (value: unknown) => accountIndex(value, keyCount)
  const isChecked = accounts instanceof Uint8Array && accounts.every((at) => at < keyCount)
  return {
    programIndex: index(programIdIndex),
    accounts: isChecked ? accounts : Uint8Array.from(list(accounts, 'bad_instruction'), index),
    data: data instanceof Uint8Array ? data : base58(data, 'bad_instruction'),
    stackHeight,
  }
}

function accountIndex(value: unknown, keyCount: number): number {
  if (!isCount(value) || value >= keyCount) throw new MalformedError('bad_instruction')
  return value
}
