import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { type ApiError, problem } from '../errors.ts'
import { HEADERS } from './headers.ts'

/** The response to a request that no middleware handles, and after which its connection closes. */
export function refusalParts(error: ApiError) {
  const requestId = randomUUID()
  const body = JSON.stringify(problem(error, requestId))
  const fields = {
    ...HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...error.headers,
  }
  return { status: error.status, fields, body }
}

/** That response as it is sent, for a connection without a response of Node (rule D1). */
export function rawRefusal(error: ApiError): string {
  const { status, fields, body } = refusalParts(error)
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`
}
