import { ApiError } from '../errors.ts'
import type { Step } from './context.ts'
import { MAX_BODY } from './limit-body.ts'

/**
 * Reads the JSON object of a request: 413 for what is larger than `MAX_BODY`, 415 for what is not JSON by its type or is compressed, 400 for what is not JSON
 * or not UTF-8 (decisions D2).
 */
export const readBody: Step = async function readBody(ctx, next) {
  if (ctx.request.type !== 'application/json' || ctx.get('Content-Encoding') !== '') {
    // What was not read would be taken for the next request.
    ctx.set('Connection', 'close')
    throw new ApiError('unsupported_media_type')
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_BODY) {
      ctx.set('Connection', 'close')
      throw new ApiError('payload_too_large')
    }
  }
  try {
    ctx.state.body = JSON.parse(UTF8.decode(Buffer.concat(chunks)))
  } catch {
    throw new ApiError('invalid_parameter', {
      errors: [{ in: 'body', name: '', message: 'expected a JSON object' }],
    })
  }
  await next()
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
