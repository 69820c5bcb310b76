import { html, htmlDocument, type SafeHtml } from '../openapi/html.ts'

/** Returns an HTML document with the dashboard's styles. `head` is added to its head element. */
export function styledDocument(title: string, head: SafeHtml, body: SafeHtml): string {
  return htmlDocument(
    title,
    html`<meta name="color-scheme" content="light dark">
<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard/style.css">
${head}`,
    body,
  )
}

/**
 * Returns the content security policy of a page: scripts, styles, images and connections of this
 * origin, and the sources in `also`. With Trusted Types, no text can become code.
 */
export function pagePolicy(
  also: { readonly script?: string; readonly img?: string; readonly connect?: string } = {},
): string {
  const directive = (name: string, more = '') => `${name}-src ${`'self' ${more}`.trim()}`
  return [
    "default-src 'none'",
    directive('script', also.script),
    directive('style'),
    directive('img', also.img),
    directive('connect', also.connect),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}
