import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { ServiceError } from '../../../pipeline/domain/service-error.ts'
import { readFault } from '../../../pipeline/runtime/read-fault.ts'
import { addTo } from '../memo.ts'
import { infoFromJson } from '../rpc/info-from-json.ts'
import type { TransactionJson } from '../rpc/transaction-json.ts'

/** A recorded block. */
export interface RecordedBlock {
  readonly slot: number
  readonly parent: number
  readonly blockhash: string
  /** Unix seconds. */
  readonly time: number
  /** Transactions in block order; indexes count from 0. */
  readonly transactions: readonly SubscribeUpdateTransactionInfo[]
}

interface Line extends TransactionJson {
  readonly slot: number
  readonly blockTime: number | null
  /** File and line, for messages. */
  readonly where: string
  readonly _source?: {
    readonly block?: {
      readonly blockhash?: string
      readonly parentSlot?: number
      readonly index?: number
    }
  }
}

/**
 * Reads blocks from JSON-lines files (`.gz` or plain), in slot order. A line is a transaction as
 * RPC's `getTransaction` answers it with encoding `json`; the lines of a slot make its block.
 * Throws a ServiceError `bad_config` that names the file and the line of anything else.
 */
export function loadBlocks(files: readonly string[]): RecordedBlock[] {
  const lines = new Map<number, Line[]>()
  for (const file of files) {
    readText(file)
      .split('\n')
      .forEach((text, number) => {
        if (text.trim() === '') return
        const line = parseLine(text, `${file}, line ${number + 1}`)
        addTo(lines, line.slot, line)
      })
  }
  if (lines.size === 0) throw badBlocks(`no block in ${files.join(', ')}`)
  return [...lines.keys()].sort((a, b) => a - b).map((slot) => blockOf(slot, lines.get(slot)!))
}

function readText(file: string): string {
  try {
    const bytes = readFileSync(file)
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8')
  } catch (error) {
    throw badBlocks(`cannot read ${file}: ${readFault(error)}`)
  }
}

function badBlocks(what: string): ServiceError {
  return new ServiceError('bad_config', `SIMULATOR_BLOCKS: ${what}`)
}

function parseLine(text: string, where: string): Line {
  const fault = (what: string) => badBlocks(`${where}: ${what}`)
  let line: Partial<Line>
  try {
    line = JSON.parse(text)
  } catch {
    throw fault('not JSON')
  }
  if (typeof line.slot !== 'number') throw fault('no slot')
  if (!Array.isArray(line.transaction?.message?.instructions) || line.meta == null) {
    throw fault('not a transaction with its meta')
  }
  if (typeof line.transaction.message.accountKeys[0] !== 'string') {
    throw fault('not of encoding json')
  }
  return { ...line, where } as Line // `infoFromJson` checks the rest
}

function blockOf(slot: number, lines: Line[]): RecordedBlock {
  const blockIndex = (line: Line) => line._source?.block?.index
  if (lines.every((line) => blockIndex(line) !== undefined)) {
    lines.sort((a, b) => blockIndex(a)! - blockIndex(b)!)
  }
  const source = lines[0]!._source?.block
  return {
    slot,
    parent: source?.parentSlot ?? slot - 1,
    blockhash: source?.blockhash ?? '1'.repeat(32),
    time: lines[0]!.blockTime ?? 0,
    transactions: lines.map((line, index) => infoOf(line, index)),
  }
}

function infoOf(line: Line, index: number): SubscribeUpdateTransactionInfo {
  try {
    return infoFromJson(line, index)
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    throw badBlocks(`${line.where}: not a transaction of encoding json: ${what}`)
  }
}
