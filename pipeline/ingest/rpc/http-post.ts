import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Dispatcher, Pool } from 'undici'

/** What a server answered. */
export interface HttpAnswer {
  readonly status: number
  /** `Retry-After` as it came. */
  readonly retryAfter: string | undefined
  readonly body: string
}

/** Posts JSON to one address, over connections that are kept. */
export interface HttpPost {
  /** Rejects when there is no whole answer within a time, when it is too large, and after `close`. */
  post(body: string, withinMs: number): Promise<HttpAnswer>
  /** Ends what is under way, and all connections. */
  close(): void
}

/**
 * A client for `url`, with `http:` or `https:`. Answers may come compressed; more than `most` bytes of one are refused. Not `fetch`, whose web streams cost
 * more CPU than all that is then done with a transaction, nor `node:http` (0.41, 0.16 and here 0.05 ms a call, answers of 17 KB).
 */
export function createHttpPost(url: string, most: number): HttpPost {
  const { origin, pathname, search, username, password } = new URL(url)
  const pool = new Pool(origin, KEPT)
  const headers = ['content-type', 'application/json', 'accept-encoding', 'gzip']
  if (username !== '') {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers.push('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  }
  const path = pathname + search
  return {
    async post(body, withinMs) {
      const { status, fields, bytes } = await new Promise<Received>((resolve, reject) => {
        const request = { method: 'POST', path, headers, body } as const
        pool.dispatch(request, receive({ most, withinMs }, resolve, reject))
      })
      const isPacked = fields['content-encoding'] === 'gzip'
      const whole = isPacked ? await unpack(bytes, { maxOutputLength: most }) : bytes
      const retryAfter = fields['retry-after']
      return {
        status,
        retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
        body: whole.toString('utf8'),
      }
    },
    close: () => void pool.destroy(new Error('closed')),
  }
}

/** The time limits of the pool are off: here is one for the whole of an answer. */
const KEPT = { keepAliveTimeout: 60_000, headersTimeout: 0, bodyTimeout: 0 }
const unpack = promisify(gunzip)

type Fields = Readonly<Record<string, string | string[] | undefined>>

interface Received {
  readonly status: number
  readonly fields: Fields
  readonly bytes: Buffer
}

/** Collects an answer. A timer of its own, not an `AbortSignal`, which costs as much as the rest. */
function receive(
  { most, withinMs }: { readonly most: number; readonly withinMs: number },
  resolve: (received: Received) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let open: Dispatcher.DispatchController | null = null
  let late: Error | null = null
  let status = 0
  let fields: Fields = {}
  let size = 0
  const parts: Buffer[] = []
  const timer = setTimeout(() => {
    late = new Error(`timeout after ${withinMs} ms`)
    open?.abort(late)
    reject(late)
  }, withinMs)
  return {
    onRequestStart(controller) {
      open = controller
      if (late !== null) controller.abort(late)
    },
    onResponseStart(_controller, statusCode, headers) {
      status = statusCode
      fields = headers
    },
    onResponseData(controller, part) {
      size += part.length
      parts.push(part)
      if (size > most) controller.abort(new Error(`an answer of more than ${most} bytes`))
    },
    onResponseEnd() {
      clearTimeout(timer)
      const [first] = parts
      const bytes = first && parts.length === 1 ? first : Buffer.concat(parts, size)
      resolve({ status, fields, bytes })
    },
    onResponseError(_controller, error) {
      clearTimeout(timer)
      reject(error)
    },
  }
}
