import { useEffect, useState } from 'preact/hooks'
import { refreshAccount, useAccount } from './account/account.ts'
import { formatCredits } from './amounts.ts'
import { PageLayout } from './components/page-layout.tsx'
import { matchPath } from './hash-location.ts'
import type { PageProps } from './page-props.ts'
import { RoutedPage } from './routed-page.tsx'
import { useHashLocation } from './router.ts'
import { ROUTES, type Route } from './routes.ts'
import { currentSession, useSession, useUnsavedApiKey } from './session.ts'

/** The whole dashboard: header, navigation, and the page for the current location. */
export function App() {
  const { path } = useHashLocation()
  // Messages of the live feed cost credits but do not say how many are left.
  useEffect(() => {
    if (path !== '/trades') return
    return () => {
      if (currentSession() !== null) void refreshAccount()
    }
  }, [path])
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
        <SignedInWallet />
      </header>
      <Navigation path={path} />
      <main id="main" tabIndex={-1}>
        <UnsavedKeyNotice isOnAccountPage={found?.route.path === '/account'} />
        <OfflineNotice />
        {found === null ? <NotFoundPage /> : <RoutedPage {...found} />}
      </main>
      <footer>
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

interface FoundRoute {
  readonly route: Route
  readonly params: PageProps['params']
}

function findRoute(path: string): FoundRoute | null {
  if (path === '/' && ROUTES[0]) return { route: ROUTES[0], params: {} }
  for (const route of ROUTES) {
    const params = matchPath(route.path, path)
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
  return (
    path === start || path.startsWith(`${start}/`) || (path === '/' && ROUTES[0]?.path === start)
  )
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
      {account !== null && <span>{formatCredits(account.balance_credits)}</span>}
    </p>
  )
}

function UnsavedKeyNotice({ isOnAccountPage }: { readonly isOnAccountPage: boolean }) {
  const [unsavedKey] = useUnsavedApiKey()
  if (unsavedKey === null || isOnAccountPage) return null
  return (
    <p class="notice" role="status">
      You have not saved your new API key. <a href="#/account">Show it on the account page</a>
    </p>
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
