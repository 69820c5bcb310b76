import type { MarkerCache } from '../marker-cache.ts'
import { LEAST_COMPRESSED_BYTES, type Rendered, render } from '../rendered.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoragePosition } from '../storage-position.ts'
import type { Step } from './context.ts'

/**
 * Answers with what the resource gives: hot answers from bytes kept for this marker, everything else made now. A client that has it already
 * gets 304, others the encoding they ask for (decisions D8).
 */
export function respond(
  resource: Resource,
  answers: MarkerCache<Rendered>,
  position: Pick<StoragePosition, 'stored'>,
): Step {
  const { path, price, isHot } = resource
  const isStored = price !== null
  return async function respond(ctx) {
    // `validate` has read it by the schemas that type the handler.
    const input = ctx.state.input as never
    const answer = isHot?.(input)
      ? await answers.get(`${path} ${JSON.stringify(input)}`, async (stored) =>
          render(await resource.handle(input), stored),
        )
      : await now(input)
    ctx.status = answer.status
    ctx.set(answer.headers)
    if (answer.etag !== null) {
      ctx.set('ETag', answer.etag)
      if (isKnown(answer.etag, ctx.get('If-None-Match'))) {
        ctx.status = 304
        return
      }
    }
    ctx.set('Content-Type', 'application/json')
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

  async function now(input: never): Promise<Rendered> {
    const stored = isStored ? position.stored() : null
    return render(await resource.handle(input), stored)
  }
}

/**
 * Whether the client has the answer already: weak comparison, RFC 9110 13.1.2. Koa's `fresh` would not tell programs that use `fetch`: it adds
 * `Cache-Control: no-cache`, which is meant for caches on the way.
 */
function isKnown(etag: string, field: string): boolean {
  if (field === '') return false
  const opaque = etag.slice(2)
  return field.split(',').some((one) => {
    const given = one.trim()
    return given === '*' || given === etag || given === opaque
  })
}
