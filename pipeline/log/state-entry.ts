import { ServiceError } from '../domain/service-error.ts'
import { asBuffer, isJsonObject } from '../records/value-types.ts'
import { batches } from '../runtime/batches.ts'
import type { OutgoingEntry } from './append-queue.ts'
import type { EntryRead } from './kafka-consumer.ts'
import {
  STATE_TABLES,
  type StateChange,
  type StateEntry,
  type StateMessage,
  type StateRow,
  type StateTable,
} from './state-log.ts'

/** Version of the entries that this version of the service writes and reads. */
const FORMAT_VERSION = 2
/** A row takes less than a kilobyte, and a broker accepts a megabyte. */
const CHANGES_PER_ENTRY = 500

/** The rows of a table in an entry: the names of its columns once, then their values. */
interface PackedRows {
  readonly columns: readonly string[]
  readonly rows: (readonly unknown[])[]
}

/**
 * Returns the entries of the topic for a message. The value is JSON; integers of 64 bits and more
 * are decimal strings. kafkajs needs as much CPU for an entry as for dozens of rows, so an entry
 * has up to `CHANGES_PER_ENTRY` rows.
 *
 * Example: `{"v":2,"fence":3,"mark":null,"tables":{"positions":{"columns":["wallet","mint",...],
 * "rows":[[7,"DezX...",...],...]}}}`
 */
export function encodeState(partition: number, message: StateMessage): OutgoingEntry[] {
  const { changes, mark, fence } = message
  const parts = changes.length === 0 ? [changes] : [...batches(changes, CHANGES_PER_ENTRY)]
  return parts.map((part, at) => {
    const own = at === parts.length - 1 ? mark : null
    const value = JSON.stringify({ v: FORMAT_VERSION, fence, mark: own, tables: pack(part) })
    return { partition, key: null, value }
  })
}

function pack(changes: readonly StateChange[]): Partial<Record<StateTable, PackedRows>> {
  const tables: Partial<Record<StateTable, PackedRows>> = {}
  for (const { table, row } of changes) {
    let packed = tables[table]
    if (packed === undefined) {
      packed = { columns: Object.keys(row), rows: [] }
      tables[table] = packed
    }
    const values = packed.columns.map((column) => row[column])
    if (values.includes(undefined) || Object.keys(row).length !== values.length)
      throw new ServiceError('internal', `rows of ${table} have different columns`)
    packed.rows.push(values)
  }
  return tables
}

/** Reads an entry. Only the service writes the topic, so rows are not checked. */
export function decodeState(value: Uint8Array | null, offset: bigint): EntryRead<StateEntry> {
  if (value === null || value.length === 0) return { kind: 'malformed', reason: 'empty' }
  let json: unknown
  try {
    json = JSON.parse(asBuffer(value).toString('utf8'))
  } catch {
    return { kind: 'malformed', reason: 'not_json' }
  }
  if (!isJsonObject(json) || typeof json.v !== 'number')
    return { kind: 'malformed', reason: 'no_version' }
  if (json.v > FORMAT_VERSION) return { kind: 'newer', version: json.v }
  const { fence, mark, tables } = json as unknown as StateMessage & { readonly tables: unknown }
  if (json.v < FORMAT_VERSION || !isJsonObject(tables) || !Object.keys(tables).every(isTable))
    return { kind: 'malformed', reason: 'wrong_shape' }
  const packed = tables as Partial<Record<StateTable, PackedRows>>
  const changes = STATE_TABLES.flatMap((table) => unpack(table, packed[table]))
  return { kind: 'ok', record: { offset, changes, mark, fence } }
}

const isTable = (name: string) => STATE_TABLES.some((table) => table === name)

function unpack(table: StateTable, packed: PackedRows | undefined): StateChange[] {
  if (packed === undefined) return []
  const { columns, rows } = packed
  // A copy of an object with every column is faster than adding the columns one by one.
  const empty: StateRow = Object.fromEntries(columns.map((column) => [column, null]))
  return rows.map((values) => {
    const row: Record<string, unknown> = { ...empty }
    for (let at = 0; at < columns.length; at++) row[columns[at]!] = values[at]
    return { table, row }
  })
}
