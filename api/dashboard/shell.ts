import { createHash } from 'node:crypto'
import { html, SafeHtml } from '../openapi/html.ts'
import { pagePolicy, styledDocument } from './document.ts'
import { IMPORT_MAP, TEST_WALLET } from './files.ts'

/** With the simulator: where the test wallet finds its RPC. */
export interface TestWalletOptions {
  readonly rpcUrl: string
}

/** The one document of the dashboard: everything in it is made by `preload`ed modules. */
export function shell(preload: readonly string[], testWallet: TestWalletOptions | null): string {
  return styledDocument(
    'Dashboard · Tracked wallets',
    html`<script type="importmap">${new SafeHtml(IMPORT_MAP)}</script>
${preload.map((path) => html`<link rel="modulepreload" href="${path}">`)}
${
  testWallet === null
    ? []
    : [
        html`<meta name="simulator-rpc" content="${testWallet.rpcUrl}">`,
        html`<script type="module" src="/dashboard/${TEST_WALLET}"></script>`,
      ]
}
<script type="module" src="/dashboard/page/main.js"></script>`,
    html`<div id="app"><noscript><main><h1>Dashboard</h1><p>The dashboard needs JavaScript. Everything it shows can be asked over the API too: <a href="/docs">documentation</a>.</p></main></noscript></div>`,
  )
}

/**
 * What the dashboard may load and do besides: the one inline script that is no code, the import map, by its hash, and pictures that, as the icons of
 * wallets are, come within the page. `serverUrl`: where clients find the API; its socket is named for browsers that do not count it to 'self'.
 */
export function shellPolicy(serverUrl: string, testWallet: TestWalletOptions | null): string {
  const socket = new URL(serverUrl).origin.replace(/^http/, 'ws')
  const rpc = testWallet ? ` ${new URL(testWallet.rpcUrl).origin}` : ''
  return pagePolicy({ script: `'${IMPORT_MAP_HASH}'`, img: 'data:', connect: socket + rpc })
}

const IMPORT_MAP_HASH = `sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}`
