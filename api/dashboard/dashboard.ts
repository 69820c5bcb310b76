import type { Page } from '../middleware/show-page.ts'
import { pagePolicy } from './document.ts'
import {
  CHART_STYLE,
  LIBRARIES,
  pageModules,
  type StaticFile,
  staticImports,
  testWalletModules as testWalletFiles,
} from './files.ts'
import { ICON } from './icon.ts'
import { MARKET_STYLE } from './market-style.ts'
import { servicePage } from './service-page.ts'
import { shell, shellPolicy, type TestWalletOptions } from './shell.ts'
import { STYLE } from './style.ts'

/** Options of the dashboard and the front page. */
export interface DashboardOptions {
  /** URL of the API. It is known once the server listens. */
  readonly serverUrl: () => string
  /** Null without the simulator. */
  readonly testWallet: TestWalletOptions | null
}

/**
 * Returns everything that browsers load for the dashboard and the front page, by path. Browsers
 * revalidate each file (`no-cache` with an `ETag`), so a page never mixes modules of two versions.
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
