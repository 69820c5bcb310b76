import type { ComponentType } from 'preact'
import type { PageProps } from './page-props.ts'

/** A page of the dashboard. */
export interface Route {
  /** Path pattern, such as `/wallets/:alias`. */
  readonly path: string
  /** Text of the link in the navigation. Only other pages link to a page without it. */
  readonly link?: string
  /** Without a session, the sign-in page is shown in its place. */
  readonly needsSession?: true
  /** Imports the module of the page, when the page is first opened. */
  load(): Promise<ComponentType<PageProps>>
}

/** The page that opens first. */
export const START_PATH = '/account'

/** The pages of the dashboard in the order of the navigation: data first, billing last. */
export const ROUTES: readonly Route[] = [
  {
    path: '/trades',
    link: 'Live trades',
    needsSession: true,
    load: async () => (await import('./market/trades-page.tsx')).TradesPage,
  },
  {
    path: '/wallets',
    link: 'Wallets',
    needsSession: true,
    load: async () => (await import('./market/wallets-page.tsx')).WalletsPage,
  },
  {
    path: '/wallets/:alias',
    needsSession: true,
    load: async () => (await import('./market/wallet-page.tsx')).WalletPage,
  },
  {
    path: '/tokens/:mint',
    needsSession: true,
    load: async () => (await import('./market/token-page.tsx')).TokenPage,
  },
  {
    path: '/trending',
    link: 'Trending',
    needsSession: true,
    load: async () => (await import('./market/trending-page.tsx')).TrendingPage,
  },
  {
    path: '/signals',
    link: 'Signals',
    needsSession: true,
    load: async () => (await import('./market/signals-page.tsx')).SignalsPage,
  },
  {
    path: '/favourites',
    link: 'Favourites',
    load: async () => (await import('./market/favourites-page.tsx')).FavouritesPage,
  },
  {
    path: '/account',
    link: 'Account',
    needsSession: true,
    load: async () => (await import('./account/account-page.tsx')).AccountPage,
  },
  {
    path: '/keys',
    link: 'Keys',
    needsSession: true,
    load: async () => (await import('./account/keys-page.tsx')).KeysPage,
  },
  {
    path: '/webhooks',
    link: 'Webhooks',
    needsSession: true,
    load: async () => (await import('./account/webhooks-page.tsx')).WebhooksPage,
  },
  {
    path: '/webhooks/:id',
    needsSession: true,
    load: async () => (await import('./account/webhook-page.tsx')).WebhookPage,
  },
  {
    path: '/security',
    link: 'Security',
    needsSession: true,
    load: async () => (await import('./account/security-page.tsx')).SecurityPage,
  },
  {
    path: '/usage',
    link: 'Usage',
    needsSession: true,
    load: async () => (await import('./account/usage-page.tsx')).UsagePage,
  },
  {
    path: '/pro',
    link: 'Pro',
    needsSession: true,
    load: async () => (await import('./billing/pro-page.tsx')).ProPage,
  },
  {
    path: '/top-up',
    link: 'Top up',
    needsSession: true,
    load: async () => (await import('./billing/top-up-page.tsx')).TopUpPage,
  },
]
