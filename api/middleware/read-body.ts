import type { IncomingMessage } from 'node:http'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'
import { MAX_BODY } from './limit-body.ts'

/**
 * Reads the JSON object of a request: 413 for what is larger than `MAX_BODY`, 415 for what is not JSON by its type or is compressed, 400 for what is not JSON
 * or not UTF-8 (rule D2).
 */
export const readBody: ApiMiddleware = async function readBody(ctx, next) {
  if (ctx.request.type !== 'application/json' || ctx.get('Content-Encoding') !== '') {
    // What was not read would be taken for the next request.
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
      errors: [{ in: 'body', name: '', message: 'expected a JSON object' }],
    })
  }
  await next()
}

/** Null when there is more. */
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
    // The client went away in the middle, or took too long: nobody reads the answer.
    throw new ApiError('bad_request', { cause })
  }
  return Buffer.concat(chunks)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
