import { PAGE_POLICY, type Page } from '../openapi/pages.ts'
import { type Rendered, renderBytes } from '../rendered.ts'
import type { Step } from './context.ts'
import { send } from './send.ts'

/** Shows a page of the documentation, made when it is first asked for. */
export function showPage({ type, make }: Page): Step {
  let made: Rendered | undefined
  return async function showPage(ctx) {
    made ??= renderBytes(Buffer.from(make()))
    ctx.set('Content-Security-Policy', PAGE_POLICY)
    ctx.set('Cache-Control', 'public, max-age=300')
    await send(ctx, made, type)
  }
}
