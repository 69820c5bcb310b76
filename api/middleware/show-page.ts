import { PAGE_POLICY, type Page } from '../openapi/pages.ts'
import { type RenderedAnswer, renderBytes } from '../rendered-answer.ts'
import type { ApiMiddleware } from './context.ts'
import { PAGE_HEADERS } from './headers.ts'
import { send } from './send.ts'

/** Answers with a page of HTML, script or style. It is rendered once unless `isMadeAnew`. */
export function showPage(page: Page): ApiMiddleware {
  const { type, make, name = page.path, policy = () => PAGE_POLICY } = page
  const { caching = 'public, max-age=300', isMadeAnew = false } = page
  let made: RenderedAnswer | undefined
  return async function showPage(ctx) {
    ctx.state.resource = name
    if (made === undefined || isMadeAnew) made = renderBytes(Buffer.from(make()))
    ctx.set(PAGE_HEADERS)
    ctx.set('Content-Security-Policy', policy())
    ctx.set('Cache-Control', caching)
    await send(ctx, made, type)
  }
}
