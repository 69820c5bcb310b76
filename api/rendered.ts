import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './resources/resource.ts'
import type { StoredSlot } from './storage-position.ts'

/** An answer as bytes, ready to be sent to everybody who asks the same. */
export interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** Weak, because the same answer goes out in several encodings; null for what does not come from storage, or before the first slot. */
  readonly etag: string | null
  /** The bytes in an encoding; made once. */
  encoded(encoding: Encoding): Promise<Buffer>
}

export type Encoding = 'br' | 'gzip'

/** Renders an answer; its ETag names the storage marker that it is of, and what it says (decisions D8). */
export function render(answer: Answer, stored: StoredSlot | null): Rendered {
  const bytes = Buffer.from(JSON.stringify(answer.body))
  const known: Partial<Record<Encoding, Promise<Buffer>>> = {}
  return {
    status: answer.status ?? 200,
    headers: answer.headers ?? {},
    bytes,
    etag: stored === null ? null : `W/"${stored.slot}-${digest(bytes)}"`,
    encoded(encoding) {
      known[encoding] ??= encode(bytes, encoding)
      return known[encoding]
    },
  }
}

/** Smaller answers are not worth it. */
export const LEAST_COMPRESSED_BYTES = 1024

function digest(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('base64url').slice(0, 12)
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Level 4 of brotli is as fast as gzip's 6 and smaller; its default, 11, takes 50 times as long. */
function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br'
    ? brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    : gzipped(bytes)
}
