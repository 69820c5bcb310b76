import diagnostics from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { z } from 'zod'
import { PROBLEMS, type ProblemCode } from '../errors.ts'
import { methodOf, pathOf, problemsOf } from '../openapi/openapi.ts'
import { Problem } from '../openapi/problem.ts'
import type { Resource } from '../resources/resource.ts'
import { declaredResources } from './declared-resources.ts'

/**
 * Returns how a response of the API differs from the documents, or null. For paths that are not in
 * the documents, only refusals are checked.
 */
export function faultOf(answer: {
  readonly method?: string
  readonly path: string
  readonly status: number
  readonly type: string
  readonly body: Buffer
  readonly has: (header: string) => boolean
}): string | null {
  const { method = 'GET', path, status, type, body, has } = answer
  const named = RESOURCES.filter(({ pattern }) => pattern.test(path)).map((one) => one.resource)
  const resource = named.find((one) => methodOf(one) === method) ?? named[0]
  const missing = fieldsOf(resource, status).filter((name) => !has(name))
  if (missing.length > 0) return `lacks ${missing.join(', ')}`
  if (status === 304 || status === 204) return body.length === 0 ? null : 'has a body'
  const isAnswer = resource !== undefined && (resource.docs.statuses ?? [200]).includes(status)
  if (!isAnswer) {
    if (status < 400) return null // a page, or the upgrade
    if (type !== 'application/problem+json') return `is refused as ${type}`
    const problem = Problem.safeParse(JSON.parse(body.toString()))
    if (!problem.success) return problem.error.message
    return problem.data.status === status && isAllowed(resource, problem.data.code)
      ? null
      : `must not be refused with ${status} ${problem.data.code}`
  }
  if (type !== 'application/json') return `is answered as ${type}`
  // A strict schema accepts exactly what was rendered, so no field is missing or unknown.
  const parsed = (resource.answer as z.ZodType).safeParse(JSON.parse(body.toString()))
  return parsed.success ? null : parsed.error.message
}

/**
 * Checks every response of the servers in this process until `stop`, which throws if one differs
 * from the documents.
 */
export function checkAnswers(): { stop(): void } {
  const faults: string[] = []
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    const chunks: Buffer[] = []
    const end = response.end
    response.end = function collect(this: ServerResponse, ...args: unknown[]) {
      const [chunk] = args
      if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk))
      return end.apply(this, args as Parameters<typeof end>)
    } as typeof end
    response.on('finish', () => {
      if (!response.hasHeader('api-version')) return // another server of the test
      // A preflight request is not a response of a resource, and HEAD has no body.
      if (request.method === 'HEAD' || (request.method === 'OPTIONS' && response.statusCode < 300))
        return
      const path = (request.url ?? '').split('?')[0] ?? ''
      const fault = faultOf({
        ...(request.method !== undefined && { method: request.method }),
        path,
        status: response.statusCode,
        type: String(response.getHeader('content-type') ?? ''),
        body: decoded(Buffer.concat(chunks), response.getHeader('content-encoding')),
        has: (name) => response.hasHeader(name),
      })
      if (fault !== null)
        faults.push(`${request.method} ${request.url} ${response.statusCode} ${fault}`)
    })
  }
  diagnostics.subscribe('http.server.request.start', onStart)
  return {
    stop() {
      diagnostics.unsubscribe('http.server.request.start', onStart)
      if (faults.length > 0) throw new Error(`answers not as documented:\n${faults.join('\n')}`)
    },
  }
}

const RESOURCES = declaredResources().map((resource) => ({
  resource,
  pattern: new RegExp(`^${pathOf(resource).replace(/\{\w+\}/g, '[^/]+')}$`),
}))

function fieldsOf(resource: Resource | undefined, status: number): string[] {
  const isOk = resource !== undefined && (status === 304 || status < 400)
  return [
    ...['api-version', 'x-request-id'],
    ...(resource && resource.price !== null && status !== 405 ? ['x-credits-cost'] : []),
    ...(isOk ? Object.keys(resource.docs.headers ?? {}) : []),
    ...(status === 401 ? ['www-authenticate'] : []),
    ...(status === 405 ? ['allow'] : []),
    ...(status === 429 ? ['retry-after'] : []),
  ]
}

function isAllowed(resource: Resource | undefined, code: ProblemCode): boolean {
  const statuses = resource && problemsOf(resource).map((known) => PROBLEMS[known][0])
  return statuses === undefined || (statuses as number[]).includes(PROBLEMS[code][0])
}

function decoded(body: Buffer, encoding: unknown): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body)
  return encoding === 'gzip' ? gunzipSync(body) : body
}
