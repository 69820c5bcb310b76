import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { ApiError, problem } from './errors.ts'
import type { LoadShedder } from './load-shedder.ts'
import { EXPOSED } from './middleware/cors.ts'
import { HEADERS } from './middleware/headers.ts'

/**
 * Returns a listener that refuses the product calls which the load shedder does not admit, with 503
 * and `Retry-After` (rule D9). `listener` answers all other requests. This comes before Koa, whose
 * middleware would double the CPU of a refusal (`infra/decisions/dependencies.md`).
 */
export function shedLoad(
  listener: RequestListener,
  options: {
    readonly shedder: LoadShedder
    readonly corsOrigins: readonly string[]
    readonly onShed: () => void
  },
): RequestListener {
  const { shedder, corsOrigins, onShed } = options
  return (request, response) => {
    const isAdmitted = shedder.admits()
    if (isAdmitted || !isProductCall(request)) return listener(request, response)
    onShed()
    const requestId = randomUUID()
    const body = JSON.stringify(problem(REFUSAL, requestId))
    const fields = [...FIELDS, 'X-Request-Id', requestId, 'Content-Length', String(body.length)]
    const { origin } = request.headers
    if (origin !== undefined && corsOrigins.includes(origin))
      fields.push('Access-Control-Allow-Origin', origin, ...CORS_FIELDS)
    response.writeHead(REFUSAL.status, fields).end(body)
  }
}

function isProductCall({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' ? MCP_PATH.test(url) : method === 'GET' && PRODUCT_PATH.test(url)
}

const MCP_PATH = /^\/mcp(?:\?|$)/
/** Paths of the resources with a price. */
const PRODUCT_PATH = /^\/(?:wallets|tokens|trades|prices|search)(?:[/?]|$)/

const REFUSAL = new ApiError('unavailable', {
  title: 'The service is at its capacity. Retry after the time in Retry-After.',
})

/** Names and values in turn, which Node writes faster than an object. */
const FIELDS: readonly string[] = Object.entries({
  ...HEADERS,
  'Content-Type': 'application/problem+json',
  'Retry-After': '1',
  'X-Credits-Cost': '0',
}).flat()
const CORS_FIELDS = ['Vary', 'Origin', 'Access-Control-Expose-Headers', EXPOSED.join(',')]
