/**
 * What the service needs of a Yellowstone update before its slot is sealed, read from the encoded `SubscribeUpdate` without decoding the rest:
 * a transaction of 3 KB is looked at in about a microsecond and stays bytes until then.
 */
export type UpdateEnvelope =
  | {
      readonly kind: 'transaction'
      readonly slot: number
      readonly index: number
      /** The signature, one character a byte. */
      readonly key: string
    }
  | {
      readonly kind: 'account'
      readonly slot: number
      readonly writeVersion: number
      readonly pubkey: Uint8Array
      readonly data: Uint8Array
    }
  | {
      readonly kind: 'meta'
      readonly slot: number
      readonly parent: number
      /** Null where the node does not know it. */
      readonly blockTime: number | null
    }
  | { readonly kind: 'slot'; readonly slot: number; readonly status: SlotStatus }
  | { readonly kind: 'ping' | 'pong' | 'other' }

/** `confirmed` stands for finalized too; statuses that decide nothing are `other`. */
export type SlotStatus = 'confirmed' | 'dead' | 'other'

/**
 * Reads the envelope; null when the bytes are not a `SubscribeUpdate`. The views in it share the memory of `bytes`.
 * Field numbers: `geyser.proto` of yellowstone-grpc, as of package 7.0.1.
 */
export function readEnvelope(bytes: Uint8Array): UpdateEnvelope | null {
  const update = readFields(bytes, 0, bytes.length, [2, 3, 4, 5, 6, 7, 8, 9, 10])
  if (update === null) return null
  if (update[4] !== undefined) return readTransaction(bytes, update[4])
  if (update[7] !== undefined) return readMeta(bytes, update[7])
  if (update[3] !== undefined) return readSlot(bytes, update[3])
  if (update[2] !== undefined) return readAccount(bytes, update[2])
  if (update[6] !== undefined) return { kind: 'ping' }
  if (update[9] !== undefined) return { kind: 'pong' }
  const known = update[5] ?? update[8] ?? update[10]
  return known === undefined ? null : { kind: 'other' }
}

/** SubscribeUpdateTransaction: 1 info {1 signature, 5 index}, 2 slot. */
function readTransaction(bytes: Uint8Array, at: Field) {
  const outer = readFields(bytes, at.start, at.end, [1, 2])
  const infoField = outer?.[1]
  if (infoField === undefined) return null
  const info = readFields(bytes, infoField.start, infoField.end, [1, 5])
  const signature = info?.[1]
  const slot = numberOf(outer?.[2])
  const index = numberOf(info?.[5])
  if (info === null || slot === null || index === null) return null
  if (signature === undefined || signature.end - signature.start !== 64) return null
  const key = textOf(bytes, signature.start, signature.end)
  return { kind: 'transaction', slot, index, key } as const
}

/** SubscribeUpdateBlockMeta: 1 slot, 4 block time {1 timestamp}, 6 parent slot. */
function readMeta(bytes: Uint8Array, at: Field) {
  const meta = readFields(bytes, at.start, at.end, [1, 4, 6])
  if (meta === null) return null
  const slot = numberOf(meta[1])
  const parent = numberOf(meta[6])
  if (slot === null || parent === null) return null
  const time = meta[4] && readFields(bytes, meta[4].start, meta[4].end, [1])
  const seconds = time ? numberOf(time[1]) : null
  const blockTime = seconds === 0 ? null : seconds
  return { kind: 'meta', slot, parent, blockTime } as const
}

/** SubscribeUpdateSlot: 1 slot, 3 status. */
function readSlot(bytes: Uint8Array, at: Field) {
  const fields = readFields(bytes, at.start, at.end, [1, 3])
  const slot = numberOf(fields?.[1])
  if (fields === null || slot === null) return null
  const status = STATUSES[numberOf(fields[3]) ?? 0] ?? 'other'
  return { kind: 'slot', slot, status } as const
}

/** SlotStatus: 0 processed, 1 confirmed, 2 finalized, 3 first shred received, 4 completed, 5 created bank, 6 dead. */
const STATUSES: readonly SlotStatus[] = [
  'other',
  'confirmed',
  'confirmed',
  'other',
  'other',
  'other',
  'dead',
]

/** SubscribeUpdateAccount: 1 info {1 pubkey, 6 data, 7 write version}, 2 slot. */
function readAccount(bytes: Uint8Array, at: Field) {
  const outer = readFields(bytes, at.start, at.end, [1, 2])
  const infoField = outer?.[1]
  if (infoField === undefined) return null
  const info = readFields(bytes, infoField.start, infoField.end, [1, 6, 7])
  const slot = numberOf(outer?.[2])
  const writeVersion = numberOf(info?.[7])
  const pubkey = info?.[1]
  if (info === null || slot === null || writeVersion === null || pubkey === undefined) return null
  return {
    kind: 'account',
    slot,
    writeVersion,
    pubkey: bytes.subarray(pubkey.start, pubkey.end),
    data: bytes.subarray(info[6]?.start ?? 0, info[6]?.end ?? 0),
  } as const
}

/** Where a field's value lies; for a varint also its value, -1 when it does not fit a double exactly. */
interface Field {
  readonly start: number
  readonly end: number
  readonly value: number
}

/** Proto3 leaves zeros out: a missing number is 0. Null for one that does not fit. */
function numberOf(field: Field | undefined): number | null {
  if (field === undefined) return 0
  return field.value >= 0 ? field.value : null
}

/**
 * The wanted fields of a message, the last of each. Null when the bytes are not a message.
 * Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.
 */
function readFields(
  bytes: Uint8Array,
  from: number,
  to: number,
  wanted: readonly number[],
): (Field | undefined)[] | null {
  const fields: (Field | undefined)[] = []
  let at = from
  while (at < to) {
    const tag = readVarint(bytes, at, to)
    if (tag === null || tag.value < 8) return null
    const wireType = tag.value % 8
    const number = Math.floor(tag.value / 8)
    let start = tag.end
    let end: number
    let value = -1
    if (wireType === 0 || wireType === 2) {
      const varint = readVarint(bytes, start, to)
      if (varint === null) return null
      value = varint.value
      if (wireType === 2) {
        if (value < 0) return null
        start = varint.end
      }
      end = wireType === 2 ? start + value : varint.end
    } else if (wireType === 1) end = start + 8
    else if (wireType === 5) end = start + 4
    else return null
    if (end > to) return null
    if (wanted.includes(number)) fields[number] = { start, end, value }
    at = end
  }
  return fields
}

function readVarint(bytes: Uint8Array, from: number, to: number): Field | null {
  let value = 0
  let factor = 1
  for (let at = from; at < to && at < from + 10; at++) {
    const byte = bytes[at] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) {
      return { start: from, end: at + 1, value: Number.isSafeInteger(value) ? value : -1 }
    }
    factor *= 128
  }
  return null
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
