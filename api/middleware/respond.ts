import type { MarkerCache } from '../marker-cache.ts'
import { type Rendered, renderAnswer } from '../rendered.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoragePosition } from '../storage-position.ts'
import type { Step } from './context.ts'
import { send } from './send.ts'

/** Answers with what the resource gives: hot answers from bytes kept for this marker, everything else made now (decisions D8). */
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
          renderAnswer(await resource.handle(input), stored),
        )
      : await now(input)
    await send(ctx, answer, 'application/json')
  }

  async function now(input: never): Promise<Rendered> {
    const stored = isStored ? position.stored() : null
    return renderAnswer(await resource.handle(input), stored)
  }
}
