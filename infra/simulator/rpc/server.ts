import { createServer, type ServerResponse } from 'node:http'
import { type ListeningServer, listen } from '../listen.ts'
import type { Trouble } from '../options.ts'
import { hash32 } from '../random.ts'
import type { RpcMethods } from './parameters.ts'
import { RpcError } from './rpc-error.ts'

/** Slowest response of a slow RPC in ms, and the share of responses that are 429 (in 32nds). */
const SLOWEST_MS = 600
const REFUSED_OF_32 = 6

/**
 * Starts a Solana JSON-RPC server over HTTP. It serves the methods to any origin; a POST holds one
 * request or a batch. With trouble, or above `perSecond`, it answers late, or 429 with Retry-After.
 */
export function startRpcServer(
  methods: RpcMethods,
  options: {
    readonly host: string
    readonly port: number
    readonly seed: number
    readonly trouble: Trouble
    /** See `rpcPerSecond` of `SimulatorOptions`. */
    readonly perSecond: number
  },
): Promise<ListeningServer> {
  const { seed, trouble, perSecond } = options
  let requests = 0
  let second = 0
  let inSecond = 0
  const server = createServer((request, response) => {
    for (const [name, value] of CORS) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return response.writeHead(204).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests += 1
      const hash = hash32(seed, 'rpc', requests)
      const now = Math.floor(performance.now() / 1000)
      inSecond = now === second ? inSecond + 1 : 1
      second = now
      const isHit = trouble.rateLimitedRpc && hash % 32 < REFUSED_OF_32
      const refused = isHit || inSecond > perSecond
      const delay = trouble.slowRpc ? Math.floor(hash / 32) % SLOWEST_MS : 0
      const answer = () => {
        if (refused) {
          response.setHeader('retry-after', '1')
          send(response, 429, failure(null, 429, 'Too many requests for a specific RPC call'))
          return
        }
        void handle(methods, Buffer.concat(chunks)).then((body) => send(response, 200, body))
      }
      if (delay > 0) setTimeout(answer, delay)
      else answer()
    })
  })
  // An idle connection must survive the pause between two calls.
  server.keepAliveTimeout = 60_000
  return listen(server, options, () => server.closeAllConnections())
}

/** CORS headers as public nodes send them. */
const CORS = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'POST'],
  ['access-control-allow-headers', 'content-type'],
  ['access-control-max-age', '86400'],
] as const

function send(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.end(JSON.stringify(body))
}

async function handle(methods: RpcMethods, body: Buffer): Promise<unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    return failure(null, -32_700, 'Parse error')
  }
  if (!Array.isArray(parsed)) return answerOne(methods, parsed)
  const answers: unknown[] = []
  for (const request of parsed) answers.push(await answerOne(methods, request))
  return answers
}

async function answerOne(methods: RpcMethods, request: unknown): Promise<unknown> {
  const { id, method, params } = (request ?? {}) as {
    id?: unknown
    method?: unknown
    params?: unknown
  }
  const found = typeof method === 'string' ? methods[method] : undefined
  if (found === undefined) return failure(id, -32_601, 'Method not found')
  try {
    const result = await found(Array.isArray(params) ? params : [])
    return { jsonrpc: '2.0', result, id: id ?? null }
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message, error.data)
    return failure(id, -32_603, error instanceof Error ? error.message : 'Internal error')
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown): unknown {
  return {
    jsonrpc: '2.0',
    error: { code, message, ...(data === undefined ? {} : { data }) },
    id: id ?? null,
  }
}
