import type { Session } from '../auth/tokens.ts'
import type { KeptAnswers } from '../kept-answers.ts'
import type { MarkerCache } from '../marker-cache.ts'
import { type Rendered, renderAnswer } from '../rendered.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoragePosition } from '../storage-position.ts'
import type { Step } from './context.ts'
import { send } from './send.ts'

/** Answers with what the resource gives: from bytes kept for this marker, or until there are news of a mint; everything else is made now (decisions D8). */
export function respond(
  resource: Resource,
  answers: MarkerCache<Rendered>,
  kept: KeptAnswers,
  position: Pick<StoragePosition, 'stored'>,
): Step {
  const { path, price, isHot, mintOf } = resource
  const isStored = price !== null
  return async function respond(ctx) {
    // `validate` has read it by the schemas that type the handler.
    await send(ctx, await answerOf(ctx.state.input as never, ctx.state.session), 'application/json')
  }

  function answerOf(input: never, session: Session | undefined): Promise<Rendered> {
    const key = () => `${path} ${JSON.stringify(input)}`
    if (mintOf !== undefined) return kept.get(mintOf(input), key(), () => now(input))
    if (!isHot?.(input)) return now(input, session)
    return answers.get(key(), async (stored, before) =>
      renderAnswer(await resource.handle(input), stored, before),
    )
  }

  async function now(input: never, session?: Session): Promise<Rendered> {
    const stored = isStored ? position.stored() : null
    return renderAnswer(await resource.handle(input, session), stored)
  }
}
