/**
 * Encodes a text message as a WebSocket frame (RFC 6455 5.2): final, not masked, not compressed. A
 * message is framed once for all connections.
 *
 * Layout: u8 0x81 | u8 length below 126, or 126 and u16, or 127 and u64, big endian | UTF-8 text
 */
export function frameText(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(header + length)
  frame[0] = 0x81
  if (length < 126) frame[1] = length
  else if (length < 65_536) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(text, header)
  return frame
}

/** Returns the text of a frame that `frameText` made. */
export function textOfFrame(frame: Buffer): string {
  const length = frame[1] ?? 0
  return frame.toString('utf8', length < 126 ? 2 : length === 126 ? 4 : 10)
}
