import { asBuffer, isJsonObject } from '../records/value-types.ts'
import type { OutgoingEntry } from './append-queue.ts'
import type { EntryRead } from './kafka-consumer.ts'
import { STATE_TABLES, type StateChange, type StateEntry, type StateMessage } from './state-log.ts'

/** Version of the entries that this version of the service writes, and the newest that it reads. */
const FORMAT_VERSION = 1

/** Columns that follow the table in the key of an entry. */
const KEYS = {
  positions: ['wallet', 'mint'],
  wallet_metrics: ['wallet'],
  swaps: ['wallet', 'slot', 'tx_index', 'event_index'],
  late_swaps: ['epoch', 'passed_slot', 'partition', 'offset'],
  mints: ['mint'],
} as const

/**
 * Returns an entry of the topic. The value is JSON; integers of 64 bits and more are decimal
 * strings.
 *
 * Example: key `positions/7/DezX...`, value `{"v":1,"kind":"change","table":"positions",
 * "row":{"wallet":7,"mint":"DezX...","version":"4294967297",...},"fence":3}`
 */
export function encodeState(partition: number, message: StateMessage): OutgoingEntry {
  const value = JSON.stringify({ v: FORMAT_VERSION, ...message })
  return { partition, key: message.kind === 'change' ? keyOf(message) : null, value }
}

function keyOf({ table, row }: StateChange): string {
  return [table, ...KEYS[table].map((column) => String(row[column]))].join('/')
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
  const isKnown =
    json.kind === 'stored' ||
    (json.kind === 'change' && isJsonObject(json.row) && STATE_TABLES.some((t) => t === json.table))
  if (!isKnown) return { kind: 'malformed', reason: 'wrong_shape' }
  const { v, ...message } = json
  return { kind: 'ok', record: { offset, ...(message as unknown as StateMessage) } }
}
