import type { ParameterizedContext } from 'koa'
import { LEAST_COMPRESSED_BYTES, type RenderedAnswer } from '../rendered-answer.ts'

/** Sends a rendered response: 304 if the client has it, else in an accepted encoding (rule D8). */
export async function send(
  ctx: ParameterizedContext,
  answer: RenderedAnswer,
  type: string,
): Promise<void> {
  if (answer.release !== null) ctx.res.once('close', answer.release)
  ctx.status = answer.status
  ctx.set(answer.headers)
  if (answer.etag !== null) {
    ctx.set('ETag', answer.etag)
    if (isKnown(answer.etag, ctx.get('If-None-Match'))) {
      ctx.status = 304
      return
    }
  }
  if (answer.status === 204) return
  ctx.set('Content-Type', type)
  if (answer.bytes.length < LEAST_COMPRESSED_BYTES) {
    ctx.body = answer.bytes
    return
  }
  ctx.vary('Accept-Encoding')
  const encoding = ctx.get('Accept-Encoding') && ctx.acceptsEncodings('br', 'gzip', 'identity')
  if (encoding === 'br' || encoding === 'gzip') {
    ctx.body = await answer.encoded(encoding)
    ctx.set('Content-Encoding', encoding)
  } else ctx.body = answer.bytes
}

/**
 * Whether the client has the response already, by weak comparison (RFC 9110 13.1.2). Koa's `fresh`
 * returns false for programs that use `fetch`, because `fetch` adds `Cache-Control: no-cache`.
 */
function isKnown(etag: string, field: string): boolean {
  if (field === '') return false
  const opaque = etag.slice(2)
  return field.split(',').some((one) => {
    const given = one.trim()
    return given === '*' || given === etag || given === opaque
  })
}
