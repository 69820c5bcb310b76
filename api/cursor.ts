import { createHmac, hkdfSync } from 'node:crypto'
import type { BlockId } from '../pipeline/domain/block-id.ts'
import { compareEventKeys, type EventKey } from '../pipeline/domain/event-key.ts'
import type { LateMark } from '../pipeline/log/late-order.ts'
import { AesSiv } from './aes-siv.ts'
import type { SecretKeys } from './secret-key.ts'

/** The list that a cursor belongs to. A cursor of another scope is invalid (rule D4). */
export type CursorScope =
  | 'trades'
  | 'views'
  | `trades:${string}`
  | `swaps:${string}`
  | `events:${string}`
  | `positions:${string}`

/**
 * A position among late trades: every late trade whose mark lies before it was sent. Within one
 * passed slot, `offsets` holds the newest offset sent of each partition, ordered by partition.
 */
export interface LatePosition {
  readonly epoch: number
  readonly passedSlot: number
  readonly offsets: readonly (readonly [partition: number, offset: number])[]
}

/**
 * A position of the feed: every trade at or before `key` was sent, and late trades up to `late`
 * (rule F4). With `late` null, all late trades known when the cursor is used count as sent.
 */
export interface FeedPosition {
  readonly key: EventKey
  readonly late: LatePosition | null
}

/**
 * Encodes positions as opaque text. A position has the same text in every process with the same
 * first key.
 */
export interface CursorCodec {
  /** With `late`, encodes a position of the feed; `GET /trades` accepts it and ignores `late`. */
  encode(scope: CursorScope, key: EventKey, late?: LatePosition | null): string
  /** Returns the position, or null for text that `encode` did not return for this scope. */
  decode(scope: CursorScope, text: string): EventKey | null
  /** Decodes a position of scope `trades` together with its `late`. */
  decodePosition(text: string): FeedPosition | null
  /**
   * Returns the `trade_id` of a trade: the same text in every process with the same `tradeIdKey`,
   * and another one for each event key and block. `blockId` is null for a block whose hash is not
   * known.
   */
  tradeId(key: EventKey, blockId: BlockId | null): string
}

/** Keys of the codec, at least 32 bytes each. */
export interface CursorKeys {
  readonly secretKeys: SecretKeys
  /** Derives every `trade_id`, so a new one changes them all (rule J14). */
  readonly tradeIdKey: Uint8Array
}

/**
 * Creates the codec. A cursor is base64url of AES-SIV (RFC 5297): deterministic, so that processes
 * agree; authenticated, so that forged cursors are refused; encrypted, because a slot identifies a
 * trade (rules D4, I1). The scope is the associated data. The first secret key encrypts, all of
 * them decrypt (rule J14).
 *
 * Plain text, big endian: version u8 | slot u64 | tx index u32 | wallet u32 | event index u32.
 * Version 2 continues with the position among late trades: epoch u48 | passed slot u48 | for each
 * partition that has one: partition u8 | offset u48.
 */
export function createCursorCodec({ secretKeys, tradeIdKey }: CursorKeys): CursorCodec {
  const [first, ...others] = secretKeys
  const issuing = ciphersOf(first)
  const accepting = [issuing, ...others.map(ciphersOf)]
  const tradeKey = new Uint8Array(hkdfSync('sha256', tradeIdKey, '', 'trade id', 32))

  function decodeIn(scope: CursorScope, text: string): FeedPosition | null {
    if (text.length > MAX_TEXT) return null
    const sealed = Buffer.from(text, 'base64url')
    // Node reads base64url leniently; only the one canonical text of the bytes is a cursor.
    if (sealed.toString('base64url') !== text) return null
    for (const cipher of accepting) {
      const plain = cipher(scope).open(sealed)
      if (plain !== null) return readPosition(plain)
    }
    return null
  }

  return {
    encode: (scope, position, late = null) =>
      issuing(scope).seal(writePosition(position, late)).toString('base64url'),
    decode: (scope, text) => decodeIn(scope, text)?.key ?? null,
    decodePosition: (text) => decodeIn('trades', text),
    tradeId: (position, blockId) => {
      const plain = Buffer.alloc(LENGTH + 8)
      writeKey(plain, position)
      plain.writeUInt8(blockId === null ? 0 : 1, 0)
      plain.writeBigUInt64BE(blockId ?? 0n, LENGTH)
      const hash = createHmac('sha256', tradeKey).update(plain).digest()
      return hash.toString('base64url', 0, TRADE_ID_BYTES)
    },
  }
}

/** Returns the cipher of each scope under a secret key. */
function ciphersOf(secretKey: Uint8Array): (scope: CursorScope) => AesSiv {
  const key = new Uint8Array(hkdfSync('sha256', secretKey, '', 'cursor', 64))
  const trades = new AesSiv(key, Buffer.from('trades'))
  const views = new AesSiv(key, Buffer.from('views'))
  return (scope) => {
    if (scope === 'trades') return trades
    return scope === 'views' ? views : new AesSiv(key, Buffer.from(scope))
  }
}

/** The position before every event. */
export const BEGINNING: EventKey = { slot: 0, txIndex: 0, wallet: 0, eventIndex: 0 }

/** Returns the position after all events of a slot and before the next slot. */
export function endOfSlot(slot: number): EventKey {
  return { slot, txIndex: U32, wallet: U32, eventIndex: U32 }
}

/** Returns the late position before the first trade of a slot: all late trades of earlier slots. */
export function lateBefore(epoch: number, slot: number): LatePosition {
  return { epoch, passedSlot: slot, offsets: [] }
}

/** Returns the late position after one more late trade. */
export function lateAfter(late: LatePosition, mark: LateMark): LatePosition {
  const { epoch, passedSlot, partition, offset } = mark
  const others =
    late.epoch === epoch && late.passedSlot === passedSlot
      ? late.offsets.filter(([other]) => other !== partition)
      : []
  const offsets = [...others, [partition, offset] as const].sort(([a], [b]) => a - b)
  return { epoch, passedSlot, offsets }
}

/** Whether a late trade was sent at or before a position. */
export function hasCome(mark: LateMark, { epoch, passedSlot, offsets }: LatePosition): boolean {
  const behind = mark.epoch - epoch || mark.passedSlot - passedSlot
  if (behind !== 0) return behind < 0
  return offsets.some(
    ([partition, offset]) => partition === mark.partition && offset >= mark.offset,
  )
}

/** Whether everything sent by `a` was also sent by `b`. Both are positions of the same log. */
export function isWithin(a: FeedPosition, b: FeedPosition): boolean {
  if (compareEventKeys(a.key, b.key) > 0) return false
  return a.late === null || b.late === null || isLateWithin(a.late, b.late)
}

/** Whether every late trade sent by `a` was also sent by `b`. */
export function isLateWithin(a: LatePosition, b: LatePosition): boolean {
  const behind = a.epoch - b.epoch || a.passedSlot - b.passedSlot
  if (behind !== 0) return behind < 0
  const offsets = new Map(b.offsets)
  return a.offsets.every(([partition, offset]) => (offsets.get(partition) ?? -1) >= offset)
}

const LENGTH = 21
const LATE_LENGTH = 12
const ENTRY_LENGTH = 7
const TAG = 16
const U32 = 0xffff_ffff
/** Bytes of the hash in a `trade_id`. */
const TRADE_ID_BYTES = 16
/** Length of a cursor with offsets of all 256 partitions. */
const MAX_TEXT = Math.ceil(((LENGTH + LATE_LENGTH + 256 * ENTRY_LENGTH + TAG) * 4) / 3)

function writeKey(plain: Buffer, key: EventKey): void {
  plain.writeUInt32BE(Math.floor(key.slot / 2 ** 32), 1)
  plain.writeUInt32BE(key.slot >>> 0, 5)
  plain.writeUInt32BE(key.txIndex, 9)
  plain.writeUInt32BE(key.wallet, 13)
  plain.writeUInt32BE(key.eventIndex, 17)
}

function writePosition(key: EventKey, late: LatePosition | null): Buffer {
  const length = late === null ? LENGTH : LENGTH + LATE_LENGTH + ENTRY_LENGTH * late.offsets.length
  const plain = Buffer.alloc(length)
  plain.writeUInt8(late === null ? 1 : 2, 0)
  writeKey(plain, key)
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
