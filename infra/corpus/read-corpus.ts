import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { addressFromBytes } from '../../pipeline/domain/address.ts'
import type { Transaction } from '../../pipeline/domain/transaction.ts'
import { normalizeRpc } from '../../pipeline/ingest/wire/normalize-rpc.ts'

/** A recorded transaction: RPC's JSON, and what `normalizeRpc` makes of it. */
export interface RecordedTransaction {
  readonly file: string
  readonly signature: string
  readonly blockTime: number
  readonly encoding: string
  readonly json: RecordedJson
  readonly tx: Transaction
}

/** The parts of a recorded line that tests read. */
export interface RecordedJson {
  readonly slot: number | null
  readonly blockTime: number | null
  readonly version?: 'legacy' | number
  readonly transaction: { readonly signatures: readonly string[]; readonly message: unknown }
  readonly meta: unknown
  readonly _source?: {
    readonly encoding?: string
    readonly notes?: readonly string[]
    readonly block?: { readonly index?: number }
  }
}

/**
 * Folder of recorded mainnet transactions: `CORPUS_DIR`, else beside the project; null where there
 * is none.
 */
export function corpusFolder(): string | null {
  const folder = process.env.CORPUS_DIR ?? join(import.meta.dirname, '../../../../shared/corpus')
  return existsSync(folder) ? folder : null
}

/**
 * Every recorded transaction of the corpus (files `*.jsonl.gz`), file by file; empty where the
 * corpus is absent.
 */
export function readCorpus(): RecordedTransaction[] {
  const folder = corpusFolder()
  if (folder === null) return []
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.jsonl.gz'))
    .sort()
  return files.flatMap((file) => {
    const path = join(folder, file)
    const lines = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n')
    return lines.map((line) => readLine(file, line))
  })
}

function readLine(file: string, line: string): RecordedTransaction {
  const json = JSON.parse(line) as RecordedJson // the corpus's own format, see its README
  const slot = json.slot ?? 1
  const index = json._source?.block?.index ?? 0
  const tx = normalizeRpc(json, { slot, index })
  if (tx.kind === 'malformed') throw new Error(`a recorded transaction is malformed: ${tx.reason}`)
  return {
    file,
    signature: json.transaction.signatures[0] ?? '',
    blockTime: json.blockTime ?? 0,
    encoding: json._source?.encoding ?? 'json',
    json,
    tx,
  }
}

/** The distinct fee payers of transactions, in order. */
export function feePayers(recorded: readonly RecordedTransaction[]) {
  return [...new Set(recorded.map(({ tx }) => addressFromBytes(tx.accountKeys[0]!)))]
}
