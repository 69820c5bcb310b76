import { createHash } from 'node:crypto'
import { html, SafeHtml } from '../openapi/html.ts'
import { pagePolicy, styledDocument } from './document.ts'
import { IMPORT_MAP, TEST_WALLET_MODULE } from './files.ts'

/** The RPC of the simulator, which the test wallet calls. */
export interface TestWalletOptions {
  readonly rpcUrl: string
}

/**
 * Returns the HTML document of the dashboard. Scripts render its content; `preload` lists the
 * modules of the first page. `testWallet` is null without the simulator.
 */
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
        html`<script type="module" src="/dashboard/${TEST_WALLET_MODULE}"></script>`,
      ]
}
<script type="module" src="/dashboard/page/main.js"></script>`,
    html`<div id="app"><noscript><main><h1>Dashboard</h1><p>The dashboard needs JavaScript. The API gives you the same data: <a href="/docs">read its documentation</a>.</p></main></noscript></div>`,
  )
}

/**
 * Returns the content security policy of the dashboard. It allows the inline import map by its
 * hash, and data URLs for the icons of wallets. `serverUrl` is the URL of the API; its WebSocket is
 * listed because some browsers do not match it with 'self'.
 */
export function shellPolicy(serverUrl: string, testWallet: TestWalletOptions | null): string {
  const socket = new URL(serverUrl).origin.replace(/^http/, 'ws')
  const rpc = testWallet ? ` ${new URL(testWallet.rpcUrl).origin}` : ''
  return pagePolicy({ script: `'${IMPORT_MAP_HASH}'`, img: 'data:', connect: socket + rpc })
}

const IMPORT_MAP_HASH = `sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}`
