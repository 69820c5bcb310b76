import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'
import type { StoredSlot } from './storage-position.ts'

/** A response as bytes, which can be sent for every equal request. */
export interface RenderedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** Digest of the bytes. */
  readonly digest: string
  /**
   * Weak, because the same bytes are sent in several encodings. Null for a response that does not
   * come from storage, and before the first slot.
   */
  readonly etag: string | null
  /** Returns the bytes in an encoding; they are compressed once. */
  encoded(encoding: Encoding): Promise<Buffer>
}

/** A content encoding that answers can be sent in. */
export type Encoding = 'br' | 'gzip'

/** The body of an answer as JSON text in bytes, for bodies that are costly to serialise. */
export class JsonBytes {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/**
 * Renders a response. Its ETag is a digest of the storage marker and the bytes (rule D8), which
 * reveals no slot (rule I1).
 *
 * If the bytes are those of `before`, its buffers and their compressed forms are reused: new
 * buffers for each marker would outlive the young generation and cause full garbage collections.
 */
export function renderAnswer(
  answer: Answer,
  stored: StoredSlot | null,
  before?: RenderedAnswer,
): RenderedAnswer {
  const { body, status = 200, headers = {} } = answer
  const made = bytesOf(body)
  const same = before?.bytes.equals(made) ? before : null
  const { bytes, digest, encoded } = same ?? content(made)
  const etag = stored === null ? null : `W/"${digestOf(`${stored.slot}:${digest}`)}"`
  return { status, headers, bytes, digest, etag, encoded }
}

function bytesOf(body: Answer['body']): Buffer {
  if (body instanceof JsonBytes) return body.bytes
  return Buffer.from(body === undefined ? '' : JSON.stringify(body))
}

/** Renders bytes that do not change while the service runs. */
export function renderBytes(bytes: Buffer): RenderedAnswer {
  const { digest, encoded } = content(bytes)
  const etag = `W/"${digest}"`
  return { status: 200, headers: {}, bytes, digest, etag, encoded }
}

function content(bytes: Buffer): Pick<RenderedAnswer, 'bytes' | 'digest' | 'encoded'> {
  const known: Partial<Record<Encoding, Promise<Buffer>>> = {}
  return {
    bytes,
    digest: digestOf(bytes),
    encoded(encoding) {
      known[encoding] ??= encode(bytes, encoding)
      return known[encoding]
    },
  }
}

/** Smaller responses are not compressed. */
export const LEAST_COMPRESSED_BYTES = 1024

/** Returns a digest of 12 base64url characters. */
function digestOf(bytes: Buffer | string): string {
  return createHash('sha1').update(bytes).digest('base64url').slice(0, 12)
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Brotli at level 4 is as fast as gzip at 6, and smaller. The default, 11, is far slower. */
function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br'
    ? brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    : gzipped(bytes)
}
