import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '../middleware/show-page.ts'
import type { Resource } from '../resources/resource.ts'
import { ABOUT } from './about.ts'
import { asyncApiDocument } from './asyncapi.ts'
import { feedPage } from './feed-page.ts'
import { docsPage, html, paragraphs } from './html.ts'
import { markdownDocuments } from './markdown-pages.ts'
import { openApiDocument } from './openapi.ts'
import { securityPage, securityText } from './security.ts'

export interface DocumentationOptions {
  readonly resources: readonly Resource[]
  /** Returns the URL of the API, which is known once it listens. */
  readonly serverUrl: () => string
  /**
   * Where to report security problems, a `mailto:` or `https:` URI; null if the operator names
   * none.
   */
  readonly securityContact: string | null
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Returns the documents and the pages that show them. All their files are served here. */
export function documentation(options: DocumentationOptions): readonly Page[] {
  const { resources, serverUrl, securityContact, now } = options
  const markdown = markdownDocuments(resources, serverUrl, securityContact)
  const json = (document: () => object) => () => JSON.stringify(document())
  return [
    {
      path: '/openapi.json',
      type: 'application/json',
      make: json(() => openApiDocument(resources, serverUrl())),
    },
    {
      path: '/asyncapi.json',
      type: 'application/json',
      make: json(() => asyncApiDocument(serverUrl())),
    },
    { path: '/docs', type: HTML, make: indexPage, markdown: markdown.index },
    { path: '/docs/rest', type: HTML, make: restPage, markdown: markdown.rest },
    {
      path: '/docs/feed',
      type: HTML,
      make: () => feedPage(asyncApiDocument(serverUrl())),
      markdown: markdown.feed,
    },
    {
      path: '/docs/security',
      type: HTML,
      make: () => securityPage(securityContact),
      markdown: markdown.security,
    },
    ...markdown.pages,
    ...(securityContact === null ? [] : [securityTextPage(securityContact, serverUrl, now)]),
    { path: '/docs/docs.css', type: 'text/css; charset=utf-8', make: () => STYLE },
    { path: '/docs/rest.js', type: SCRIPT, make: () => START_SWAGGER },
    {
      path: '/docs/swagger-ui.css',
      type: 'text/css; charset=utf-8',
      make: () => packaged('swagger-ui-dist/swagger-ui.css'),
    },
    {
      path: '/docs/swagger-ui-bundle.js',
      type: SCRIPT,
      make: () => packaged('swagger-ui-dist/swagger-ui-bundle.js'),
    },
  ]
}

function securityTextPage(contact: string, serverUrl: () => string, now: () => number): Page {
  return {
    path: '/.well-known/security.txt',
    type: 'text/plain; charset=utf-8',
    isMadeAnew: true,
    make: () => securityText(contact, serverUrl(), now()),
  }
}

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

function packaged(file: string): Buffer {
  return readFileSync(createRequire(import.meta.url).resolve(file))
}

function indexPage(): string {
  return docsPage(
    'Tracked wallets',
    html`
    <h1>Tracked wallets</h1>
    <ul>
      <li><a href="/docs/rest">REST</a>, every endpoint, with a form to try it · <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)</li>
      <li><a href="/docs/feed">Live feed</a>, every message of the WebSocket · <a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0)</li>
      <li><a href="/docs/webhooks.md">Webhooks</a>, the feed posted to a URL of yours, with receivers to copy</li>
      <li><a href="/docs/agents.md">Agents</a>, the tools of the Model Context Protocol · <a href="/llms.txt">llms.txt</a> (all documents as Markdown)</li>
      <li><a href="/docs/security">Security</a>, how to report a problem</li>
    </ul>
    ${paragraphs(ABOUT)}`,
  )
}

function restPage(): string {
  return docsPage(
    'Tracked wallets: REST',
    html`<p><a href="/docs">All documentation</a></p><div id="rest">This page needs JavaScript; the document is at <a href="/openapi.json">openapi.json</a>.</div>`,
    html`<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/rest.js" defer></script>`,
  )
}

/** Starts Swagger UI with a plugin that shows `x-codeSamples` above the responses. */
const START_SWAGGER = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
const withSamples = (Responses, { React: { createElement, Fragment } }) => (props) => {
  const { path, method, specSelectors } = props
  const field = specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])
  const samples = (field ? field.toJS() : []).map(({ label, source }) =>
    createElement('div', { className: 'sample', key: label },
      createElement('h5', null, label),
      createElement('pre', { tabIndex: 0 }, source)))
  return createElement(Fragment, null, samples, createElement(Responses, props))
}
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#rest',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  plugins: [{ wrapComponents: { responses: withSamples } }],
})
`

const STYLE = `:root { color-scheme: light dark; --page: #fff; --text: #1c2430; --line: #d8dee6; --code: #f3f5f8; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0e131a; --text: #e5eaf1; --line: #303b49; --code: #171e28; --link: #83bcff; }
}
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem max(1rem, min(1.5rem, 4vw)); }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; background: var(--code); }
pre { padding: 0.75rem; overflow-x: auto; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
.swagger-ui table { display: table; }
main .swagger-ui .sample { padding: 0 20px; color: var(--text); }
main .swagger-ui .sample h5 { margin: 1rem 0 0.25rem; font-size: 14px; color: inherit; }
main .swagger-ui .sample pre { margin: 0; }
main .swagger-ui pre code { background: none; }
main .swagger-ui .responses-inner { overflow-x: auto; }
/* White text on the colours of Swagger UI has too little contrast. */
main .swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1660a8; }
main .swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1a7044; }
main .swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b665a; }
main .swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #a8201a; }
main .swagger-ui .opblock.opblock-head .opblock-summary-method { background: #6d0fc0; }
main .swagger-ui .info .title small, main .swagger-ui .info .title small.version-stamp { background: #1d632e; font-size: 12px; padding: 3px 6px; }
main .swagger-ui .info .title small pre { background: none; padding: 0; }
`
