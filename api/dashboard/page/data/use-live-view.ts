import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ApiFailure } from '../call-api.ts'
import { useSession } from '../session.ts'
import type { FeedNotice } from './feed-notices.ts'
import type { SocketState } from './feed-socket.ts'
import { LiveViewConnection, type LiveViewRules } from './live-view.ts'

/** The live state of a Pro page. */
export interface LiveView<State> {
  /** Null before the first response. */
  readonly state: State | null
  /** Unix seconds of the last response or message. */
  readonly updatedAt: number | null
  readonly connection: SocketState
  readonly failure: ApiFailure | null
  readonly notices: readonly FeedNotice[]
  /** Loads the state and connects again. */
  reload(): void
}

/** Opens a live view while the component is mounted. `rules` must stay the same object. */
export function useLiveView<State, Body>(rules: LiveViewRules<State, Body>): LiveView<State> {
  const token = useSession()?.token ?? null
  const [state, setState] = useState<State | null>(null)
  const [updatedAt, setUpdatedAt] = useState<number | null>(null)
  const [connection, setConnection] = useState<SocketState>({ kind: 'connecting' })
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [notices, setNotices] = useState<readonly FeedNotice[]>([])
  const [reloads, setReloads] = useState(0)

  useEffect(() => {
    if (token === null) return
    setFailure(null)
    setNotices([])
    setConnection({ kind: 'connecting' })
    const view = new LiveViewConnection<State, Body>(rules, token, {
      onData(change) {
        setUpdatedAt(Math.floor(Date.now() / 1000))
        setState(change)
      },
      onConnection: setConnection,
      onFailure: setFailure,
      onNotice: (notice) => setNotices([notice]),
    })
    view.open()
    return () => view.close()
  }, [token, rules, reloads])

  const reload = useCallback(() => setReloads((count) => count + 1), [])
  return { state, updatedAt, connection, failure, notices, reload }
}
