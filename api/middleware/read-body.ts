import type { IncomingMessage } from 'node:http'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'
import { MAX_BODY } from './limit-body.ts'

/**
 * Reads the JSON body of a request into `body` (rule D2). Refuses a body over `MAX_BODY` with 413,
 * another content type or a compressed body with 415, and invalid JSON or UTF-8 with 400.
 */
export const readBody: ApiMiddleware = async function readBody(ctx, next) {
  if (ctx.request.type !== 'application/json' || ctx.get('Content-Encoding') !== '') {
    // The unread body would be parsed as the next request.
    ctx.set('Connection', 'close')
    throw new ApiError('unsupported_media_type')
  }
  const bytes = await readAtMost(ctx.req, MAX_BODY)
  if (bytes === null) {
    ctx.set('Connection', 'close')
    throw new ApiError('payload_too_large')
  }
  try {
    ctx.state.body = JSON.parse(UTF8.decode(bytes))
  } catch {
    throw new ApiError('invalid_parameter', {
      title: 'The request body is not JSON in UTF-8.',
      errors: [{ in: 'body', name: '', message: 'expected a JSON object' }],
    })
  }
  await next()
}

/** Returns the body, or null if it is longer than `most` bytes. */
async function readAtMost(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk)
      length += chunk.length
      if (length > most) return null
    }
  } catch (cause) {
    // The client disconnected or took too long. Nobody reads the response.
    throw new ApiError('bad_request', { cause })
  }
  return Buffer.concat(chunks)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
