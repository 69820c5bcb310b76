import { createHash } from 'node:crypto'
import { html, SafeHtml } from '../openapi/html.ts'
import { IMPORT_MAP, TEST_WALLET } from './files.ts'

/** With the simulator: where the test wallet finds its RPC. */
export interface TestWalletOptions {
  readonly rpcUrl: string
}

/** The one document of the dashboard: everything in it is made by `preload`ed modules. */
export function shell(preload: readonly string[], testWallet: TestWalletOptions | null): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dashboard · Tracked wallets</title>
<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard/style.css">
<script type="importmap">${new SafeHtml(IMPORT_MAP)}</script>
${preload.map((path) => html`<link rel="modulepreload" href="${path}">`)}
${
  testWallet === null
    ? []
    : [
        html`<meta name="simulator-rpc" content="${testWallet.rpcUrl}">`,
        html`<script type="module" src="/dashboard/${TEST_WALLET}"></script>`,
      ]
}
<script type="module" src="/dashboard/page/main.js"></script>
</head>
<body>
<div id="app"><noscript><main><h1>Dashboard</h1><p>The dashboard needs JavaScript. Everything it shows can be asked over the API too: <a href="/docs">documentation</a>.</p></main></noscript></div>
</body>
</html>
`.text
}

/**
 * What the dashboard may load and do: modules, styles and answers of this origin, and the one inline script that is no code, the import map, by its hash. Pictures are ours or, as the icons of
 * wallets are, within the page. Text can become no code (Trusted Types, where the browser knows them). `serverUrl`: where clients find the API; its socket is named for browsers that do not count it to 'self'.
 */
export function shellPolicy(serverUrl: string, testWallet: TestWalletOptions | null): string {
  const socket = new URL(serverUrl).origin.replace(/^http/, 'ws')
  const connect = ["'self'", socket, ...(testWallet ? [new URL(testWallet.rpcUrl).origin] : [])]
  return [
    "default-src 'none'",
    `script-src 'self' '${IMPORT_MAP_HASH}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${connect.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const IMPORT_MAP_HASH = `sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}`
