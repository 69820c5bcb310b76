import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { refreshAccount, useAccount } from './account/account.ts'
import { SignInPage } from './account/sign-in-page.tsx'
import { creditsText } from './amounts.ts'
import { Failure, Loading, Page } from './components.tsx'
import { match } from './place.ts'
import { usePlace } from './router.ts'
import { type PageProps, ROUTES, type Route } from './routes.ts'
import { currentSession, useSession, useUnstoredKey } from './session.ts'

/** The whole dashboard: the way around it, and the page that the address names. */
export function App() {
  const { path } = usePlace()
  const [unstored] = useUnstoredKey()
  const isOnline = useOnline()
  // Live trades cost credits without an answer that says what is left.
  useEffect(() => {
    if (path !== '/trades') return
    return () => {
      if (currentSession() !== null) void refreshAccount()
    }
  }, [path])
  const found = find(path)
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads within the page, without a change of what stands behind # */}
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="/">
          Tracked wallets
        </a>
        <SignedIn />
      </header>
      <nav aria-label="Dashboard">
        <ul>
          {ROUTES.filter(({ link }) => link !== null).map((route) => (
            <li key={route.path}>
              <a href={`#${route.path}`} aria-current={isWithin(path, route) ? 'page' : undefined}>
                {route.link}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        {unstored !== null && found?.route.path !== '/account' && (
          <p class="notice" role="status">
            Your new API key waits to be stored: <a href="#/account">see it on the account page</a>
          </p>
        )}
        {!isOnline && (
          <p class="notice" role="status">
            You are offline: what you see may be old, and nothing can be asked for.
          </p>
        )}
        {found === null ? <NoPage /> : <Routed {...found} />}
      </main>
      <footer>
        <a href="/">About the service</a>
        <a href="/docs">Documentation</a>
        <a href="/#now">Status</a>
      </footer>
    </>
  )
}

interface Found {
  readonly route: Route
  readonly params: PageProps['params']
}

function find(path: string): Found | null {
  if (path === '/' && ROUTES[0]) return { route: ROUTES[0], params: {} }
  for (const route of ROUTES) {
    const params = match(route.path, path)
    if (params !== null) return { route, params }
  }
  return null
}

function isWithin(path: string, { path: start }: Route): boolean {
  return (
    path === start || path.startsWith(`${start}/`) || (path === '/' && ROUTES[0]?.path === start)
  )
}

/** The module of a page, once it has come; pages that were seen are there at once. */
const loaded = new Map<Route, ComponentType<PageProps>>()

function Routed({ route, params }: Found) {
  const session = useSession()
  const [failed, setFailed] = useState<Route | null>(null)
  const [, redraw] = useState(0)
  const View = loaded.get(route)
  useEffect(() => {
    if (loaded.has(route)) return
    route.load().then(
      (view) => {
        loaded.set(route, view)
        redraw((count) => count + 1)
      },
      () => setFailed(route),
    )
  }, [route])
  if (route.needsSession && session === null) return <SignInPage />
  if (View !== undefined) return <View key={route.path} params={params} />
  if (failed !== route) return <Loading what="the page" />
  // A browser does not try again to load a module that it could not load.
  return <Failure failure={{ kind: 'unreachable' }} again={() => location.reload()} />
}

/** Who is signed in, and what is left. */
function SignedIn() {
  const session = useSession()
  const account = useAccount()
  if (session === null) return null
  const { wallet } = session
  return (
    <p class="who">
      <span title={wallet}>
        {wallet.slice(0, 4)}…{wallet.slice(-4)}
      </span>
      {account !== null && <span>{creditsText(account.balance_credits)}</span>}
    </p>
  )
}

function NoPage() {
  return (
    <Page title="No such page">
      <p>
        Nothing is at this address. <a href="#/account">Go to your account</a>.
      </p>
    </Page>
  )
}

/** Whether the browser has a network at all. */
function useOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = () => setIsOnline(navigator.onLine)
    addEventListener('online', look)
    addEventListener('offline', look)
    return () => {
      removeEventListener('online', look)
      removeEventListener('offline', look)
    }
  }, [])
  return isOnline
}

function focusMain(event: Event) {
  event.preventDefault() // the address behind # is the page's
  document.getElementById('main')?.focus()
}
