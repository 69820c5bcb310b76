import { DECODER_VERSION } from '../domain/decoder-version.ts'
import { FORMAT_VERSION } from '../domain/log-format.ts'
import type {
  RefoldRequest,
  Rewind,
  SlotMarker,
  SolPrice,
  WalletRecord,
  Withdrawal,
} from '../domain/slot.ts'
import { mapRecordTypes, RECORD_TYPES, type RecordType } from '../records/record-types.ts'
import * as t from '../records/value-types.ts'
import type { LateOrigin, LogMessage } from './log-message.ts'

/**
 * An entry of the log as read. `malformed`: not written by this service, or damaged; readers skip
 * it. `newer`: written by a later version of the service; skipping it would lose events, so a
 * reader stops there until it is upgraded.
 */
export type Decoded =
  | { readonly kind: 'ok'; readonly message: LogMessage }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason }
  | { readonly kind: 'newer'; readonly version: number }

/** Why an entry cannot be read. */
export type MalformedReason = 'empty' | 'not_json' | 'no_version' | 'wrong_shape'

/**
 * Returns an entry: JSON text of the format version and the fields of the message, bigints as
 * decimal strings. The bytes of a kept transaction follow the text and a line break.
 * `decodeMessage` returns an equal message. With an older `version` the entry has what a
 * reader of that version knows.
 *
 * Example: `{"v":3,"kind":"balance","slot":5,"txIndex":0,"wallet":12,"blockTime":1700000000,
 * "lamports":"1000","lamportsBefore":"1005","late":null,"decoderVersion":1}`
 */
export function encodeMessage(message: LogMessage, version: number = FORMAT_VERSION): EntryValue {
  switch (message.kind) {
    case 'marker':
      return encode(version, { kind: 'marker', ...message.marker })
    case 'withdrawal':
      return encode(version, { kind: 'withdrawal', ...message.withdrawal })
    case 'refold':
      return encode(version, { kind: 'refold', ...message.refold })
    case 'record': {
      const { late, blockId = null, decoderVersion = DECODER_VERSION } = message
      const record =
        version < FORMAT_VERSION ? withoutNewer(message.record, version) : message.record
      const envelope = late === null ? { late, decoderVersion } : { late, blockId, decoderVersion }
      if (record.kind !== 'kept') return encode(version, { ...record, ...envelope })
      const { bytes, ...fields } = record
      const text = encode(version, { ...fields, ...envelope })
      return Buffer.concat([Buffer.from(text), LINE_BREAK, bytes])
    }
  }
}

/** The value of an entry: text, or for a kept transaction text and bytes. */
export type EntryValue = string | Buffer

/** JSON has no line break outside of strings, and escapes it within. */
const LINE_BREAK = Buffer.from('\n')

/** Returns a record without the fields that later format versions added. */
function withoutNewer(record: WalletRecord, version: number): WalletRecord {
  const { fields }: RecordType = RECORD_TYPES[record.kind]
  const known = Object.entries(record).filter(([name]) => (fields[name]?.since ?? 1) <= version)
  return Object.fromEntries(known) as never // only to be encoded
}

function encode(version: number, fields: object): string {
  return JSON.stringify({ v: version, ...fields }, (_name, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Reads an entry. It must have exactly the fields of its kind. Never throws on bytes. */
export function decodeMessage(value: Uint8Array | null): Decoded {
  if (value === null || value.length === 0) return { kind: 'malformed', reason: 'empty' }
  const entry = t.asBuffer(value)
  const end = entry.indexOf(LINE_BREAK)
  let json: unknown
  try {
    json = JSON.parse(entry.toString('utf8', 0, end === -1 ? entry.length : end))
  } catch {
    return { kind: 'malformed', reason: 'not_json' }
  }
  if (!t.isJsonObject(json)) return { kind: 'malformed', reason: 'no_version' }
  const { v: version } = json
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1)
    return { kind: 'malformed', reason: 'no_version' }
  if (version > FORMAT_VERSION) return { kind: 'newer', version }
  const fields = end === -1 ? json : { ...json, bytes: bytesFrom(entry, end + 1) }
  const message = readMessage(fields, version)
  return message ? { kind: 'ok', message } : { kind: 'malformed', reason: 'wrong_shape' }
}

/** Returns a view of the rest of an entry. */
function bytesFrom({ buffer, byteOffset, length }: Buffer, start: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, length - start)
}

function readMessage(json: t.JsonObject, version: number): LogMessage | undefined {
  const { kind } = json
  if (kind === 'marker') {
    const marker = (version < 3 ? readOldMarker : readMarker)(json)
    return marker && { kind, marker }
  }
  if (kind === 'withdrawal') {
    const withdrawal = readWithdrawal(json)
    return withdrawal && { kind, withdrawal }
  }
  if (kind === 'refold') {
    const refold = readRefold(json)
    return refold && { kind, refold }
  }
  const late = LATE.read(json.late)
  const decoderVersion = DECODER.read(json.decoderVersion)
  if (late === undefined || decoderVersion === undefined) return undefined
  const hasBlock = late !== null && version >= 3
  const record = RECORD_READERS[version - 1]?.get(kind)?.(json, hasBlock ? 1 : 0)
  if (record === undefined) return undefined
  if (late === null) return { kind: 'record', record, late, decoderVersion }
  const blockId = hasBlock ? BLOCK.read(json.blockId) : null
  return blockId === undefined
    ? undefined
    : { kind: 'record', record, late, blockId, decoderVersion }
}

const LATE = t.nullable(t.oneOf<LateOrigin>('stream', 'backfill'))
const DECODER = t.integerBetween(1, 0xffff)
const BLOCK = t.nullable(t.u64)

// The other fields of an entry are `v` and `kind`, and for a record `late` and `decoderVersion`. A
// late record has `blockId` too.
const PRICE = t.nullable(t.object<SolPrice>({ time: t.unixSeconds, usdE9: t.u64 }))
const MARKER = {
  slot: t.natural,
  parent: t.natural,
  blockTime: t.unixSeconds,
  solPrice: PRICE,
}
const NEW_IN_MARKER = { blockId: BLOCK, finalized: t.nullable(t.natural) }
const readMarker = t.fieldReader<SlotMarker>({ ...MARKER, ...NEW_IN_MARKER }, 2)
/** Markers before version 3 lack two fields, which are null. */
const readOldMarker = t.fieldReader<Omit<SlotMarker, keyof typeof NEW_IN_MARKER>>(MARKER, 2, {
  blockId: null,
  finalized: null,
}) as typeof readMarker // the constants are the other fields
const REWIND = t.nullable(
  t.object<Rewind>({
    checkpoint: t.nullable(t.object<SlotMarker>({ ...MARKER, ...NEW_IN_MARKER })),
    attempt: t.natural,
  }),
)
const readWithdrawal = t.fieldReader<Withdrawal>(
  { slot: t.natural, blockId: BLOCK, solPrice: PRICE, rewind: REWIND },
  2,
)
// Versions of rows are revision x 2^32 + records folded, and are safe integers.
const readRefold = t.fieldReader<RefoldRequest>(
  { wallet: t.walletNumber, revision: t.integerBetween(1, 2 ** 21 - 1) },
  2,
)

/** Readers of records by kind, for each format version from 1. */
const RECORD_READERS = Array.from({ length: FORMAT_VERSION }, (_, index) => {
  const readers = mapRecordTypes(({ fields }, kind) => {
    const types: Record<string, t.AnyValueType> = {}
    const constants: Record<string, unknown> = { kind }
    for (const [name, { type, since = 1 }] of Object.entries(fields))
      if (since <= index + 1) types[name] = type
      else constants[name] = null
    return t.fieldReader(types as never, 4, constants) as RecordReader
  })
  return new Map<unknown, RecordReader>(Object.entries(readers))
})

/** Reads a record from an entry with `more` fields in addition to those of every record. */
type RecordReader = (json: t.JsonObject, more: number) => WalletRecord | undefined
