import { hkdfSync } from 'node:crypto'
import { compareEventKeys, type EventKey } from '../pipeline/domain/event-key.ts'
import type { LateMark } from '../pipeline/log/late-order.ts'
import { AesSiv } from './aes-siv.ts'

/** What a cursor belongs to: one of another scope is no cursor (rule D4). */
export type CursorScope = 'trades' | 'views' | `swaps:${string}` | `events:${string}`

/**
 * How many late trades had come: all whose mark lies before it. Those behind the same passed slot are told apart by the offset of the newest one in each partition
 * (ordered by partition; none for a partition that had none).
 */
export interface LatePosition {
  readonly epoch: number
  readonly passedSlot: number
  readonly offsets: readonly (readonly [partition: number, offset: number])[]
}

/**
 * A position of the feed: every trade at or before `key` has been, late ones only as far as `late` says (rule F4). `late` null: as many as there are when
 * somebody comes with it.
 */
export interface FeedPosition {
  readonly key: EventKey
  readonly late: LatePosition | null
}

/** Turns positions of one scope into opaque text and back; the same position gives the same text in every process. */
export interface CursorCodec {
  /** With `late`, a position of the feed; `GET /trades` takes it as well, as one without. */
  encode(scope: CursorScope, key: EventKey, late?: LatePosition | null): string
  /** The position, or null for anything that `encode` did not give for this scope. */
  decode(scope: CursorScope, text: string): EventKey | null
  /** The same with what it says of late trades; of scope `trades`. */
  decodePosition(text: string): FeedPosition | null
}

/**
 * Cursors as base64url of AES-SIV (RFC 5297): deterministic, so two processes agree, and authenticated, so nothing else is
 * accepted; unreadable, because a slot would name the trade (rules D4, I1). The scope is associated data.
 *
 * Plain text, big endian: version u8 | slot u64 | tx index u32 | wallet u32 | event index u32. Version 2 goes on with what the feed knows of late trades: epoch u48 |
 * passed slot u48 | for each partition with one: partition u8 | offset u48.
 */
export function createCursorCodec(secretKey: Uint8Array): CursorCodec {
  const key = new Uint8Array(hkdfSync('sha256', secretKey, '', 'cursor', 64))
  const trades = new AesSiv(key, Buffer.from('trades'))
  const views = new AesSiv(key, Buffer.from('views'))
  const cipher = (scope: CursorScope) => {
    if (scope === 'trades') return trades
    return scope === 'views' ? views : new AesSiv(key, Buffer.from(scope))
  }

  function decodeIn(scope: CursorScope, text: string): FeedPosition | null {
    if (text.length > MAX_TEXT) return null
    const sealed = Buffer.from(text, 'base64url')
    // Node reads base64url leniently; only the one canonical text of the bytes is a cursor.
    if (sealed.toString('base64url') !== text) return null
    const plain = cipher(scope).open(sealed)
    return plain && readPosition(plain)
  }

  return {
    encode: (scope, position, late = null) =>
      cipher(scope).seal(writePosition(position, late)).toString('base64url'),
    decode: (scope, text) => decodeIn(scope, text)?.key ?? null,
    decodePosition: (text) => decodeIn('trades', text),
  }
}

/** The position before every event: strictly newer than it is everything. */
export const BEGINNING: EventKey = { slot: 0, txIndex: 0, wallet: 0, eventIndex: 0 }

/** The position after everything of a slot and before the next one. */
export function endOfSlot(slot: number): EventKey {
  return { slot, txIndex: U32, wallet: U32, eventIndex: U32 }
}

/** How many late trades have come when the first trade of a slot goes out: all behind earlier slots, none behind this one. */
export function lateBefore(epoch: number, slot: number): LatePosition {
  return { epoch, passedSlot: slot, offsets: [] }
}

/** The position after one more late trade; those before it have come. */
export function lateAfter(late: LatePosition, mark: LateMark): LatePosition {
  const { epoch, passedSlot, partition, offset } = mark
  const others =
    late.epoch === epoch && late.passedSlot === passedSlot
      ? late.offsets.filter(([other]) => other !== partition)
      : []
  const offsets = [...others, [partition, offset] as const].sort(([a], [b]) => a - b)
  return { epoch, passedSlot, offsets }
}

/** Whether a late trade has come by a position. */
export function hasCome(mark: LateMark, { epoch, passedSlot, offsets }: LatePosition): boolean {
  const behind = mark.epoch - epoch || mark.passedSlot - passedSlot
  if (behind !== 0) return behind < 0
  return offsets.some(
    ([partition, offset]) => partition === mark.partition && offset >= mark.offset,
  )
}

/** Whether everything that has come by `a` has come by `b`; for two positions on the way of one log. */
export function isWithin(a: FeedPosition, b: FeedPosition): boolean {
  if (compareEventKeys(a.key, b.key) > 0) return false
  if (a.late === null || b.late === null) return true
  const behind = a.late.epoch - b.late.epoch || a.late.passedSlot - b.late.passedSlot
  if (behind !== 0) return behind < 0
  const offsets = new Map(b.late.offsets)
  return a.late.offsets.every(([partition, offset]) => (offsets.get(partition) ?? -1) >= offset)
}

const LENGTH = 21
const LATE_LENGTH = 12
const ENTRY_LENGTH = 7
const TAG = 16
const U32 = 0xffff_ffff
/** Of a position with an entry for each of 256 partitions. */
const MAX_TEXT = Math.ceil(((LENGTH + LATE_LENGTH + 256 * ENTRY_LENGTH + TAG) * 4) / 3)

function writePosition(key: EventKey, late: LatePosition | null): Buffer {
  const length = late === null ? LENGTH : LENGTH + LATE_LENGTH + ENTRY_LENGTH * late.offsets.length
  const plain = Buffer.alloc(length)
  plain.writeUInt8(late === null ? 1 : 2, 0)
  plain.writeUInt32BE(Math.floor(key.slot / 2 ** 32), 1)
  plain.writeUInt32BE(key.slot >>> 0, 5)
  plain.writeUInt32BE(key.txIndex, 9)
  plain.writeUInt32BE(key.wallet, 13)
  plain.writeUInt32BE(key.eventIndex, 17)
  if (late === null) return plain
  plain.writeUIntBE(late.epoch, LENGTH, 6)
  plain.writeUIntBE(late.passedSlot, LENGTH + 6, 6)
  let at = LENGTH + LATE_LENGTH
  for (const [partition, offset] of late.offsets) {
    plain.writeUInt8(partition, at)
    plain.writeUIntBE(offset, at + 1, 6)
    at += ENTRY_LENGTH
  }
  return plain
}

function readPosition(plain: Buffer): FeedPosition | null {
  const version = plain.readUInt8(0)
  const rest = plain.length - LENGTH - LATE_LENGTH
  if (version === 1 ? plain.length !== LENGTH : version !== 2 || rest < 0 || rest % ENTRY_LENGTH)
    return null
  const key = {
    slot: plain.readUInt32BE(1) * 2 ** 32 + plain.readUInt32BE(5),
    txIndex: plain.readUInt32BE(9),
    wallet: plain.readUInt32BE(13),
    eventIndex: plain.readUInt32BE(17),
  }
  if (version === 1) return { key, late: null }
  const offsets: [number, number][] = []
  for (let at = LENGTH + LATE_LENGTH; at < plain.length; at += ENTRY_LENGTH)
    offsets.push([plain.readUInt8(at), plain.readUIntBE(at + 1, 6)])
  const epoch = plain.readUIntBE(LENGTH, 6)
  return { key, late: { epoch, passedSlot: plain.readUIntBE(LENGTH + 6, 6), offsets } }
}
