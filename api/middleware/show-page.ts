import { type RenderedAnswer, renderBytes } from '../rendered-answer.ts'
import type { ApiMiddleware } from './context.ts'
import { PAGE_HEADERS } from './headers.ts'
import { send } from './send.ts'

/**
 * A page, or a file that a page loads. It is the same for every client until the service is
 * upgraded.
 */
export interface Page {
  readonly path: string
  readonly type: string
  /** Label of the page in metrics; default: its path. */
  readonly name?: string
  /** Returns the page's Content-Security-Policy, for each response; default: `PAGE_POLICY`. */
  readonly policy?: () => string
  /** `Cache-Control` of the page; default: cached for five minutes. */
  readonly caching?: string
  /**
   * Rendered for each response, because it depends on the time. Default: rendered once, at the
   * first request.
   */
  readonly isMadeAnew?: true
  /** Renders the page as Markdown, for clients that prefer `text/markdown`; default: it cannot. */
  readonly markdown?: () => string
  make(): string | Buffer
}

/**
 * Answers with a page of HTML, script, style or Markdown. It is rendered once unless `isMadeAnew`.
 */
export function showPage(page: Page): ApiMiddleware {
  const { type, make, markdown, name = page.path, policy = () => PAGE_POLICY } = page
  const { caching = 'public, max-age=300', isMadeAnew = false } = page
  let made: RenderedAnswer | undefined
  let madeMarkdown: RenderedAnswer | undefined
  return async function showPage(ctx) {
    ctx.state.resource = name
    ctx.set(PAGE_HEADERS)
    ctx.set('Content-Security-Policy', policy())
    ctx.set('Cache-Control', caching)
    if (markdown !== undefined) {
      ctx.vary('Accept')
      if (ctx.accepts('text/html', 'text/markdown') === 'text/markdown') {
        madeMarkdown ??= renderBytes(Buffer.from(markdown()))
        return send(ctx, madeMarkdown, 'text/markdown; charset=utf-8')
      }
    }
    if (made === undefined || isMadeAnew) made = renderBytes(Buffer.from(make()))
    await send(ctx, made, type)
  }
}

/** Allows a page to load from this origin only. Images in style sheets are `data:` URLs. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
