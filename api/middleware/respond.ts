import type { Store } from '../../pipeline/store/store.ts'
import type { FairReads } from '../fair-reads.ts'
import type { MarkerCache } from '../marker-cache.ts'
import type { MintAnswerCache } from '../mint-answer-cache.ts'
import { type RenderedAnswer, renderAnswer } from '../rendered-answer.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoragePosition } from '../storage-position.ts'
import type { ApiMiddleware, RequestState } from './context.ts'
import { send } from './send.ts'

/**
 * Answers with the result of the resource's handler (rule D8). Responses of `isHot` come from the
 * cache by marker, those of `mintOf` from the cache by mint; others are made for each request.
 * Queries for an account wait in the fair queue.
 */
export function respond(
  resource: Resource,
  deps: {
    readonly byMarker: MarkerCache<RenderedAnswer>
    readonly byMint: MintAnswerCache
    readonly position: Pick<StoragePosition, 'stored'>
    readonly reads: FairReads
    readonly store: Store
  },
): ApiMiddleware {
  const { path, price, isHot, mintOf } = resource
  const { byMarker, byMint, position, reads, store } = deps
  /** Cache keys of inputs, which `validate` caches. */
  const keys = new WeakMap<object, string>()
  return async function respond(ctx) {
    const { account = '' } = ctx.state
    const input = ctx.state.input as never // parsed by `validate`
    const answer = price ? await answerOf(input, account) : await free(input, ctx.state)
    ctx.state.isFree = answer.isFree
    await send(ctx, answer, 'application/json')
  }

  async function free(input: never, state: RequestState): Promise<RenderedAnswer> {
    const { account, session, network } = state
    return renderAnswer(await resource.handle(input, { account, session, network, store }), null)
  }

  function keyOf(input: object): string {
    const known = keys.get(input)
    if (known !== undefined) return known
    const key = `${path} ${JSON.stringify(input)}`
    keys.set(input, key)
    return key
  }

  function answerOf(input: never, account: string): Promise<RenderedAnswer> {
    const key = keyOf(input)
    const make = () => reads.answer(account, key, (store) => resource.handle(input, { store }))
    const now = async () => {
      const stored = position.stored()
      return renderAnswer(await make(), stored)
    }
    if (mintOf === undefined && !isHot?.(input)) return now()
    // Changes of mints are known only from the first marker on.
    if (mintOf !== undefined && position.stored() === null) return now()
    reads.join(account, key)
    if (mintOf !== undefined) return byMint.get(mintOf(input), key, now)
    return byMarker.get(key, async (stored, before) => renderAnswer(await make(), stored, before))
  }
}
