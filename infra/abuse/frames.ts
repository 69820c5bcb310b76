import type { Frame } from './case.ts'

/**
 * The bytes of a frame (RFC 6455 section 5.2), with its faults. The mask is zero, so that the
 * payload stays as it is.
 */
export function encodeFrame({
  opcode,
  payload,
  isFinal = true,
  isMasked = true,
  reserved = 0,
  declares,
}: Frame): Buffer {
  const bytes = Buffer.from(payload, 'latin1')
  const length = declares ?? bytes.length
  const head = [(isFinal ? 0x80 : 0) | (reserved << 4) | opcode]
  const mask = isMasked ? 0x80 : 0
  if (length < 126) head.push(mask | length)
  else if (length < 65_536) head.push(mask | 126, length >> 8, length & 255)
  else {
    const long = Buffer.alloc(8)
    long.writeBigUInt64BE(BigInt(length))
    head.push(mask | 127, ...long)
  }
  return Buffer.concat([Buffer.from(head), Buffer.alloc(isMasked ? 4 : 0), bytes])
}

/** A frame of the server: final and not masked. */
export interface ServerFrame {
  readonly opcode: number
  readonly payload: Buffer
}

/** Reads whole frames; returns them and the remaining bytes. */
export function readFrames(bytes: Buffer): {
  readonly frames: ServerFrame[]
  readonly rest: Buffer
} {
  const frames: ServerFrame[] = []
  let at = 0
  while (bytes.length - at >= 2) {
    const short = bytes.readUInt8(at + 1) & 127
    const from = at + (short === 127 ? 10 : short === 126 ? 4 : 2)
    if (bytes.length < from) break
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(at + 2))
        : short === 126
          ? bytes.readUInt16BE(at + 2)
          : short
    if (bytes.length < from + length) break
    frames.push({ opcode: bytes.readUInt8(at) & 15, payload: bytes.subarray(from, from + length) })
    at = from + length
  }
  return { frames, rest: bytes.subarray(at) }
}
