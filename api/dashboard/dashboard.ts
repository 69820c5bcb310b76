import type { Page } from '../openapi/pages.ts'
import { pagePolicy } from './document.ts'
import {
  CHART_STYLE,
  LIBRARIES,
  pageModules,
  type StaticFile,
  staticImports,
  testWallet as testWalletFiles,
} from './files.ts'
import { ICON } from './icon.ts'
import { MARKET_STYLE } from './market-style.ts'
import { servicePage } from './service-page.ts'
import { shell, shellPolicy, type TestWalletOptions } from './shell.ts'
import { STYLE } from './style.ts'

/** Where the dashboard is, and what it loads from there; and the page of the service at `/`, which leads to it. */
export interface DashboardOptions {
  /** Where clients find the API; known once it listens. */
  readonly serverUrl: () => string
  /** Null but with the simulator. */
  readonly testWallet: TestWalletOptions | null
}

/**
 * Everything that browsers load for the dashboard, as paths of their own. All but the document is checked with the server each time (`no-cache`, and an `ETag`
 * that answers 304): so nobody runs modules of two versions.
 */
export function dashboardPages({ serverUrl, testWallet }: DashboardOptions): readonly Page[] {
  const modules = pageModules()
  const first = staticImports('/dashboard/page/main.js', [...modules, ...LIBRARIES])
  const preload = first.map(({ path }) => path).slice(1)
  const files: readonly StaticFile[] = [
    ...modules,
    ...LIBRARIES,
    CHART_STYLE,
    ...(testWallet ? testWalletFiles() : []),
  ]
  return [
    { path: '/', type: HTML, policy: () => pagePolicy(), make: servicePage },
    {
      path: '/dashboard',
      type: HTML,
      policy: () => shellPolicy(serverUrl(), testWallet),
      make: () => shell(preload, testWallet),
    },
    {
      path: '/dashboard/style.css',
      type: 'text/css; charset=utf-8',
      make: () => STYLE + MARKET_STYLE,
    },
    { path: '/dashboard/icon.svg', type: 'image/svg+xml', make: () => ICON },
    ...files.map(({ path, type, read }) => ({ path, type, make: read })),
  ].map((page) => ({ ...page, name: page.path === '/' ? '/' : '/dashboard', caching: 'no-cache' }))
}

const HTML = 'text/html; charset=utf-8'
