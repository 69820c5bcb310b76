/** Length of the frame of a server at a position; 0 when its head is incomplete. */
export function frameSize(bytes: Buffer, at = 0): number {
  if (bytes.length < at + 2) return 0
  const short = (bytes[at + 1] ?? 0) & 0x7f
  if (short < 126) return 2 + short
  return bytes.length < at + 4 ? 0 : 4 + bytes.readUInt16BE(at + 2)
}

/** A text frame of a client. */
export function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff])
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** The request of a customer for a socket. */
export function socketRequest(key: string): string {
  return `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${key}\r\n\r\n`
}
