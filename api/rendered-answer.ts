import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'
import type { StoredSlot } from './storage-position.ts'

/** An answer as bytes, ready to be sent to everybody who asks the same. */
export interface RenderedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** Stands for the bytes. */
  readonly digest: string
  /** Weak, because the same bytes go out in several encodings; null for an answer that does not come from storage, or before the first slot. */
  readonly etag: string | null
  /** The bytes in an encoding; made once. */
  encoded(encoding: Encoding): Promise<Buffer>
  /** To be called when the answer has gone, or its reader; null where nobody waits for that. */
  readonly release: (() => void) | null
}

export type Encoding = 'br' | 'gzip'

/** The body of an answer as JSON text, for one that is costly to make anew: lent, and not changed before it is released. */
export class JsonText {
  readonly bytes: Buffer
  /** Stands for the bytes. */
  readonly digest: string
  readonly release: () => void

  constructor(bytes: Buffer, digest: string, release: () => void) {
    this.bytes = bytes
    this.digest = digest
    this.release = release
  }
}

/**
 * Renders an answer; its ETag stands for the storage marker that it is of and what it says (rule D8), and shows no slot (I1). What is the same as `before`
 * keeps its bytes and their encodings: bytes made for each marker outlive the young generation, and a collection of all memory follows for each 64 MB of them.
 */
export function renderAnswer(
  answer: Answer,
  stored: StoredSlot | null,
  before?: RenderedAnswer,
): RenderedAnswer {
  const { body, status = 200, headers = {} } = answer
  const text = body instanceof JsonText ? body : null
  const made = text?.bytes ?? Buffer.from(body === undefined ? '' : JSON.stringify(body))
  const same = before?.bytes.equals(made) ? before : null
  // Of the digest, so that the same bytes have the same tag whether they were lent or made.
  const { bytes, digest, encoded } = same ?? content(made, text?.digest ?? digestOf(made))
  const etag = stored === null ? null : `W/"${digestOf(`${stored.slot}:${digest}`)}"`
  return { status, headers, bytes, digest, etag, encoded, release: text?.release ?? null }
}

/** What is the same for everybody, for as long as the service runs. */
export function renderBytes(bytes: Buffer): RenderedAnswer {
  const { digest, encoded } = content(bytes, digestOf(bytes))
  const etag = `W/"${digest}"`
  return { status: 200, headers: {}, bytes, digest, etag, encoded, release: null }
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

/** Smaller answers are not worth it. */
export const LEAST_COMPRESSED_BYTES = 1024

/** Twelve characters that stand for some bytes. */
export function digestOf(bytes: Buffer | string): string {
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
