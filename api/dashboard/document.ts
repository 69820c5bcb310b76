import { html, htmlDocument, type SafeHtml } from '../openapi/html.ts'

/** A whole page in the style of the dashboard, in the colours that the system prefers; `head` for what else it loads. */
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

/** What a page may load and do: scripts, styles, pictures and answers of this origin, and what is given beside them. Text can become no code (Trusted Types, where the browser knows them). */
export function pagePolicy(
  also: { readonly script?: string; readonly img?: string; readonly connect?: string } = {},
): string {
  const own = (name: string, more = '') => `${name}-src ${`'self' ${more}`.trim()}`
  return [
    "default-src 'none'",
    own('script', also.script),
    own('style'),
    own('img', also.img),
    own('connect', also.connect),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}
