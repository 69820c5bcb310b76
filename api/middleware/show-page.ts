import { type RenderedAnswer, renderBytes } from '../rendered-answer.ts'
import type { ApiMiddleware } from './context.ts'
import { PAGE_HEADERS } from './headers.ts'
import { send } from './send.ts'

/** A page or what one loads: the same for everybody until the service is another one. */
export interface Page {
  readonly path: string
  readonly type: string
  /** What it is counted as; default: its path. */
  readonly name?: string
  /** What it may load; default: `PAGE_POLICY`. Called with each answer. */
  readonly policy?: () => string
  /** Its `Cache-Control`; default: kept for five minutes. */
  readonly caching?: string
  /**
   * Made for each answer, because it depends on the time; default: made once, when it is first
   * asked for.
   */
  readonly isMadeAnew?: true
  make(): string | Buffer
}

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

/** What a page may load: from this origin alone. Pictures within style sheets are `data:`. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
