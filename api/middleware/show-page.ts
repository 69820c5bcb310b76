import { PAGE_POLICY, type Page } from '../openapi/pages.ts'
import { type Rendered, renderBytes } from '../rendered.ts'
import type { Step } from './context.ts'
import { send } from './send.ts'

/** Shows a page, made when it is first asked for. */
export function showPage(page: Page): Step {
  const { type, make, name = page.path, policy = () => PAGE_POLICY } = page
  const { caching = 'public, max-age=300' } = page
  let made: Rendered | undefined
  return async function showPage(ctx) {
    ctx.state.resource = name
    made ??= renderBytes(Buffer.from(make()))
    ctx.set('Content-Security-Policy', policy())
    ctx.set('Cache-Control', caching)
    await send(ctx, made, type)
  }
}
