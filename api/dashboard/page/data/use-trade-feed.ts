import { useEffect, useMemo } from 'preact/hooks'
import { useAtom } from '../atom.ts'
import { LiveTradeFeed, type TradeFeedState } from './trade-feed.ts'

/** How often received trades move to the list. */
const FLUSH_INTERVAL_MS = 200

/** Returns a trade feed for the lifetime of the component, and its state. */
export function useTradeFeed(key: string | null): {
  readonly feed: LiveTradeFeed
  readonly state: TradeFeedState
} {
  const feed = useMemo(() => new LiveTradeFeed(), [])
  const state = useAtom(feed.state)
  useEffect(() => feed.clearFailure(), [feed, key])
  useEffect(() => {
    const timer = setInterval(() => feed.flush(), FLUSH_INTERVAL_MS)
    return () => {
      clearInterval(timer)
      feed.close()
    }
  }, [feed])
  return { feed, state }
}
