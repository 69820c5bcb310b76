import type { Resource } from '../resources/resource.ts'
import type { Step } from './context.ts'

/** Answers with what the resource gives. */
export function respond(resource: Resource): Step {
  return async function respond(ctx) {
    // `validate` has read it by the schemas that type the handler.
    const answer = await resource.handle(ctx.state.input as never)
    ctx.status = answer.status ?? 200
    ctx.body = JSON.stringify(answer.body)
    ctx.type = 'application/json'
    ctx.set({ ...answer.headers })
  }
}
