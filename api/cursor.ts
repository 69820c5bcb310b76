import { hkdfSync } from 'node:crypto'
import { aessiv } from '@noble/ciphers/aes.js'
import type { EventKey } from '../pipeline/domain/event-key.ts'

/** What a cursor belongs to: one of another scope is no cursor (decisions D4). */
export type CursorScope = 'trades' | `swaps:${string}`

/** Turns positions of one scope into opaque text and back; the same position gives the same text in every process. */
export interface CursorCodec {
  encode(scope: CursorScope, key: EventKey): string
  /** The position, or null for anything that `encode` did not give for this scope. */
  decode(scope: CursorScope, text: string): EventKey | null
}

/**
 * Cursors as base64url of AES-SIV (RFC 5297): deterministic, so two processes agree, and authenticated, so nothing else is
 * accepted; unreadable, because a slot would name the trade (decisions D4, I1). The scope is associated data.
 *
 * Plain text: version u8 | slot u64 | tx index u32 | wallet u32 | event index u32, big endian.
 */
export function createCursorCodec(secretKey: Uint8Array): CursorCodec {
  const key = new Uint8Array(hkdfSync('sha256', secretKey, '', 'cursor', 64))
  const cipher = (scope: CursorScope) => aessiv(key, Buffer.from(scope))
  return {
    encode(scope, { slot, txIndex, wallet, eventIndex }) {
      const plain = Buffer.alloc(LENGTH)
      plain.writeUInt8(VERSION, 0)
      plain.writeBigUInt64BE(BigInt(slot), 1)
      plain.writeUInt32BE(txIndex, 9)
      plain.writeUInt32BE(wallet, 13)
      plain.writeUInt32BE(eventIndex, 17)
      return Buffer.from(cipher(scope).encrypt(plain)).toString('base64url')
    },
    decode(scope, text) {
      const sealed = Buffer.from(text, 'base64url')
      // Node reads base64url leniently; only the one canonical text of the bytes is a cursor.
      if (sealed.length !== LENGTH + TAG || sealed.toString('base64url') !== text) return null
      const plain = open(cipher(scope), sealed)
      if (plain === null || plain.readUInt8(0) !== VERSION) return null
      return {
        slot: Number(plain.readBigUInt64BE(1)),
        txIndex: plain.readUInt32BE(9),
        wallet: plain.readUInt32BE(13),
        eventIndex: plain.readUInt32BE(17),
      }
    },
  }
}

/** The position before every event: strictly newer than it is everything. */
export const BEGINNING: EventKey = { slot: 0, txIndex: 0, wallet: 0, eventIndex: 0 }

/** The position after everything of a slot and before the next one. */
export function endOfSlot(slot: number): EventKey {
  return { slot, txIndex: U32, wallet: U32, eventIndex: U32 }
}

const VERSION = 1
const LENGTH = 21
const TAG = 16
const U32 = 0xffff_ffff

function open(cipher: ReturnType<typeof aessiv>, sealed: Uint8Array): Buffer | null {
  try {
    return Buffer.from(cipher.decrypt(sealed))
  } catch {
    return null
  }
}
