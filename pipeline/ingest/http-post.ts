import { Agent, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/** What a server answered. */
export interface HttpAnswer {
  readonly status: number
  /** `Retry-After` as it came. */
  readonly retryAfter: string | undefined
  readonly body: string
}

/** Posts JSON to one address, over connections that are kept. */
export interface HttpPost {
  /** Rejects when there is no whole answer, when it is too large, and after an abort. */
  post(body: string, signal: AbortSignal): Promise<HttpAnswer>
  /** Ends idle connections. */
  close(): void
}

/**
 * A client for `url`, with `http:` or `https:`. Answers may come compressed; more than `most` bytes of one are refused. Not `fetch`: its web streams cost
 * more CPU than all that is then done with a transaction (0.55 ms a call against 0.2, answers of 17 KB).
 */
export function createHttpPost(url: string, most: number): HttpPost {
  const { protocol } = new URL(url)
  const agent = protocol === 'https:' ? new TlsAgent(KEPT) : new Agent(KEPT)
  const open = protocol === 'https:' ? tlsRequest : request
  return {
    async post(body, signal) {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'accept-encoding': 'gzip',
        }
        open(url, { method: 'POST', agent, headers, signal })
          .once('response', resolve)
          .on('error', reject)
          .end(body)
      })
      const bytes = await readBody(response, most)
      const isPacked = response.headers['content-encoding'] === 'gzip'
      const whole = isPacked ? await unpack(bytes, { maxOutputLength: most }) : bytes
      return {
        status: response.statusCode ?? 0,
        retryAfter: response.headers['retry-after'],
        body: whole.toString('utf8'),
      }
    },
    close: () => agent.destroy(),
  }
}

const KEPT = { keepAlive: true }
const unpack = promisify(gunzip)

function readBody(response: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    response.on('data', (part: Buffer) => {
      size += part.length
      parts.push(part)
      if (size > most) response.destroy(new Error(`an answer of more than ${most} bytes`))
    })
    response.on('end', () => resolve(Buffer.concat(parts, size)))
    response.on('error', reject)
    response.on('close', () => reject(new Error('the answer was cut')))
  })
}
