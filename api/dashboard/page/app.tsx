import type { ComponentType } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { totalCredits, useAccount } from './account/account.ts'
import { WebhookNotice } from './account/webhook-notice.tsx'
import { formatCredits } from './amounts.ts'
import { Icon } from './components/icon.tsx'
import { PageLayout } from './components/page-layout.tsx'
import { matchPath } from './hash-location.ts'
import type { PageProps } from './page-props.ts'
import { RoutedPage } from './routed-page.tsx'
import { useHashLocation } from './router.ts'
import { ROUTES, type Route, START_PATH } from './routes.ts'
import {
  useSession,
  useUnsavedApiKey,
  useUnsavedHookSecret,
  useUnsavedNamedKey,
} from './session.ts'
import { type ShortcutAction, useShortcuts } from './shortcuts.ts'

/** The whole dashboard: header, navigation, and the page for the current location. */
export function App() {
  const { path } = useHashLocation()
  const [dialog, open] = useState<keyof typeof DIALOGS | null>(null)
  const act = useCallback((action: ShortcutAction) => {
    if (typeof action === 'string') open(action)
    else location.hash = action.path
  }, [])
  useShortcuts(act)
  const found = findRoute(path)
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it moves the focus and keeps the URL hash */}
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          Tracked wallets
        </a>
        <button type="button" class="search small" onClick={() => open('search')}>
          <Icon name="search" /> Search <kbd>/</kbd>
        </button>
        <SignedInWallet />
      </header>
      <Navigation path={path} />
      <main id="main" tabIndex={-1}>
        <UnsavedKeyNotice page={found?.route.path} />
        <OfflineNotice />
        {!isWebhookPage(found?.route.path) && <WebhookNotice />}
        {found === null ? <NotFoundPage /> : <RoutedPage {...found} />}
      </main>
      {dialog !== null && <Dialog name={dialog} close={() => open(null)} />}
      <footer>
        <button type="button" class="link" onClick={() => open('help')}>
          Keyboard shortcuts
        </button>
        <LinkOut href="/">About the service</LinkOut>
        <LinkOut href="/docs">Documentation</LinkOut>
        <LinkOut href="/#service-status">Service status</LinkOut>
      </footer>
    </>
  )
}

/** A link in a new tab: the sign-in is kept in the memory of this page alone. */
function LinkOut({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} target="_blank" rel="noopener">
      {children} (opens a new tab)
    </a>
  )
}

/** The dialogs of every page. Their modules are loaded when they are first opened. */
const DIALOGS = {
  search: async () => (await import('./market/search-dialog.tsx')).SearchDialog,
  help: async () => (await import('./components/shortcut-list.tsx')).ShortcutList,
}

function Dialog({ name, close }: { name: keyof typeof DIALOGS; close: () => void }) {
  const [loaded, setLoaded] = useState<{ readonly View: ComponentType<{ close: () => void }> }>()
  useEffect(() => {
    DIALOGS[name]().then((View) => setLoaded({ View }), close)
  }, [name])
  return loaded === undefined ? null : <loaded.View close={close} />
}

interface FoundRoute {
  readonly route: Route
  readonly params: PageProps['params']
}

function findRoute(path: string): FoundRoute | null {
  for (const route of ROUTES) {
    const params = matchPath(route.path, path === '/' ? START_PATH : path)
    if (params !== null) return { route, params }
  }
  return null
}

function Navigation({ path }: { readonly path: string }) {
  return (
    <nav aria-label="Dashboard">
      <ul>
        {ROUTES.filter(({ link }) => link !== undefined).map((route) => (
          <li key={route.path}>
            <a href={`#${route.path}`} aria-current={isWithin(path, route) ? 'page' : undefined}>
              {route.link}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function isWithin(path: string, { path: start }: Route): boolean {
  return path === start || path.startsWith(`${start}/`) || (path === '/' && start === START_PATH)
}

/** The wallet of the session and its credits. */
function SignedInWallet() {
  const session = useSession()
  const account = useAccount()
  if (session === null) return null
  const { wallet } = session
  return (
    <p class="who">
      <span title={wallet}>
        {wallet.slice(0, 4)}…{wallet.slice(-4)}
      </span>
      {account !== null && <span>{formatCredits(totalCredits(account))}</span>}
    </p>
  )
}

/** Whether a page shows the webhooks and their new secret. */
function isWebhookPage(path: string | undefined): boolean {
  return path?.startsWith('/webhooks') ?? false
}

/** Says that a new key or secret was not saved, except on the page that shows it. */
function UnsavedKeyNotice({ page }: { readonly page: string | undefined }) {
  const [ownKey] = useUnsavedApiKey()
  const [namedKey] = useUnsavedNamedKey()
  const [hookSecret] = useUnsavedHookSecret()
  return (
    <>
      {ownKey !== null && page !== '/account' && (
        <p class="notice" role="status">
          You have not saved your new API key. <a href="#/account">Show it on the account page</a>
        </p>
      )}
      {namedKey !== null && page !== '/keys' && (
        <p class="notice" role="status">
          You have not saved the new key “{namedKey.name}”.{' '}
          <a href="#/keys">Show it on the page of keys</a>
        </p>
      )}
      {hookSecret !== null && !isWebhookPage(page) && (
        <p class="notice" role="status">
          You have not saved the new secret of a webhook.{' '}
          <a href="#/webhooks">Show it on the page of webhooks</a>
        </p>
      )}
    </>
  )
}

function OfflineNotice() {
  const isOnline = useOnline()
  if (isOnline) return null
  return (
    <p class="notice" role="status">
      You are offline. The data on this page may be out of date.
    </p>
  )
}

function NotFoundPage() {
  return (
    <PageLayout title="Page not found">
      <p>
        There is no page at this address. <a href="#/account">Go to your account</a>
      </p>
    </PageLayout>
  )
}

/** Whether the browser has a network connection. */
function useOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine)
  useEffect(() => {
    const update = () => setIsOnline(navigator.onLine)
    addEventListener('online', update)
    addEventListener('offline', update)
    return () => {
      removeEventListener('online', update)
      removeEventListener('offline', update)
    }
  }, [])
  return isOnline
}

function focusMain(event: Event) {
  event.preventDefault() // The hash holds the location of the page.
  document.getElementById('main')?.focus()
}
