import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'
import type { StoredSlot } from './state-reader.ts'

/** A response as bytes, which can be sent for every equal request. */
export interface RenderedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** Digest of the bytes. */
  readonly digest: string
  /** Whether it costs nothing, as `Answer` says. */
  readonly isFree: boolean
  /**
   * Weak, because the same bytes are sent in several encodings. Null for a response that does not
   * come from storage, and before the first slot.
   */
  readonly etag: string | null
  /** Returns the bytes in an encoding; they are compressed once. */
  encoded(encoding: Encoding): Promise<Buffer>
  /** To call when the response is sent or its connection closed; null if not needed. */
  readonly release: (() => void) | null
}

/** A content encoding that answers can be sent in. */
export type Encoding = 'br' | 'gzip'

/**
 * The body of a response as JSON text, for bodies that are costly to serialise. The buffer belongs
 * to the object that created it, which does not change it before `release` is called.
 */
export class JsonText {
  readonly bytes: Buffer
  /** Digest of the bytes. */
  readonly digest: string
  readonly release: () => void

  constructor(bytes: Buffer, digest: string, release: () => void) {
    this.bytes = bytes
    this.digest = digest
    this.release = release
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
  const { body, status = 200, headers = {}, isFree = false } = answer
  const text = body instanceof JsonText ? body : null
  const made = text?.bytes ?? Buffer.from(body === undefined ? '' : JSON.stringify(body))
  const same = before?.bytes.equals(made) ? before : null
  const { bytes, digest, encoded } = same ?? content(made, text?.digest ?? digestOf(made))
  const etag = stored === null ? null : `W/"${digestOf(`${stored.slot}:${digest}`)}"`
  const release = text?.release ?? null
  return { status, headers, bytes, digest, isFree, etag, encoded, release }
}

/** Renders bytes that do not change while the service runs. */
export function renderBytes(bytes: Buffer): RenderedAnswer {
  const { digest, encoded } = content(bytes, digestOf(bytes))
  const etag = `W/"${digest}"`
  return { status: 200, headers: {}, bytes, digest, isFree: true, etag, encoded, release: null }
}

function content(
  bytes: Buffer,
  digest: string,
): Pick<RenderedAnswer, 'bytes' | 'digest' | 'encoded'> {
  const known: Partial<Record<Encoding, Promise<Buffer>>> = {}
  return {
    bytes,
    digest,
    encoded(encoding) {
      known[encoding] ??= encode(bytes, encoding)
      return known[encoding]
    },
  }
}

/** Smaller responses are not compressed. */
export const LEAST_COMPRESSED_BYTES = 1024

/** Returns a digest of 12 base64url characters. */
export function digestOf(bytes: Buffer | string): string {
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
