import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { SignInPage } from './account/sign-in-page.tsx'
import { FailureNotice } from './components/failure-notice.tsx'
import { LoadingNotice } from './components/query-view.tsx'
import type { PageProps } from './page-props.ts'
import type { Route } from './routes.ts'
import { useSession } from './session.ts'

/** Page components by route, once their modules are loaded. */
const loadedPages = new Map<Route, ComponentType<PageProps>>()

/** Loads the module of a route and renders its page, or the sign-in page in its place. */
export function RoutedPage(props: { readonly route: Route; readonly params: PageProps['params'] }) {
  const { route, params } = props
  const session = useSession()
  const [failedRoute, setFailedRoute] = useState<Route | null>(null)
  const [, rerender] = useState(0)
  const View = loadedPages.get(route)
  useEffect(() => {
    if (loadedPages.has(route)) return
    route.load().then(
      (view) => {
        loadedPages.set(route, view)
        rerender((count) => count + 1)
      },
      () => setFailedRoute(route),
    )
  }, [route])
  if (route.needsSession && session === null) return <SignInPage />
  if (View !== undefined) return <View key={route.path} params={params} />
  if (failedRoute !== route) return <LoadingNotice what="the page" />
  // A browser does not import a module again after the first import failed.
  return <FailureNotice failure={{ kind: 'unreachable' }} retry={() => location.reload()} />
}
