import type { ComponentType } from 'preact'

/** What a page is given: what its path says. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

export interface Route {
  /** `/wallets/:alias` */
  readonly path: string
  /** In the navigation; null: reached from other pages alone. */
  readonly link: string | null
  /** Shown to who is signed in alone; to others it asks to sign in, and then goes on here. */
  readonly needsSession: boolean
  /** The module of the page, loaded when somebody goes there. */
  load(): Promise<ComponentType<PageProps>>
}

/** The pages of the dashboard, in the order of the navigation. The first one is the start. */
export const ROUTES: readonly Route[] = [
  {
    path: '/account',
    link: 'Account',
    needsSession: true,
    load: async () => (await import('./account/account-page.tsx')).AccountPage,
  },
  {
    path: '/top-up',
    link: 'Top up',
    needsSession: true,
    load: async () => (await import('./billing/top-up-page.tsx')).TopUpPage,
  },
  {
    path: '/pro',
    link: 'Pro',
    needsSession: true,
    load: async () => (await import('./billing/pro-page.tsx')).ProPage,
  },
  {
    path: '/usage',
    link: 'Usage',
    needsSession: true,
    load: async () => (await import('./account/usage-page.tsx')).UsagePage,
  },
  {
    path: '/trades',
    link: 'Live trades',
    needsSession: false,
    load: async () => (await import('./market/trades-page.tsx')).TradesPage,
  },
  {
    path: '/wallets',
    link: 'Wallets',
    needsSession: false,
    load: async () => (await import('./market/wallets-page.tsx')).WalletsPage,
  },
  {
    path: '/wallets/:alias',
    link: null,
    needsSession: false,
    load: async () => (await import('./market/wallet-page.tsx')).WalletPage,
  },
  {
    path: '/tokens/:mint',
    link: null,
    needsSession: false,
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
]
