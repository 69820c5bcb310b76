import { formatCredits } from '../amounts.ts'
import { ExactNumbersToggle } from '../data/formatted.tsx'
import {
  FEED_PRICES,
  type FeedPhase,
  isFollowing,
  type LiveTradeFeed,
  type TradeFeedState,
} from '../data/trade-feed.ts'
import { resumeTradeFeed } from '../data/use-trade-feed.ts'

/** The state of the feed, the credits spent, and the buttons that pause and resume it. */
export function FeedControls(props: {
  readonly state: TradeFeedState
  readonly feed: LiveTradeFeed
}) {
  const { state, feed } = props
  const { phase, spent, canResume } = state
  const tradePrice = `${formatCredits(FEED_PRICES.message)} per trade`
  return (
    <div class="feed-bar">
      <p role="status">
        <strong>{PHASE_TEXTS[phase.kind]}</strong>
      </p>
      <p>
        Spent since you signed in: {formatCredits(spent.history + spent.messages)} ({spent.messages}{' '}
        for live trades, {spent.history} for history)
      </p>
      {isFollowing(phase) && (
        <button type="button" onClick={() => feed.pause()}>
          Pause (costs nothing while paused)
        </button>
      )}
      {canResume && (
        <>
          <button type="button" class="primary" onClick={() => resumeTradeFeed('last_trade')}>
            Resume where it stopped ({tradePrice} since then)
          </button>
          <button type="button" onClick={() => resumeTradeFeed('now')}>
            Resume from now ({tradePrice})
          </button>
        </>
      )}
      <ExactNumbersToggle />
    </div>
  )
}

const PHASE_TEXTS: Readonly<Record<FeedPhase['kind'], string>> = {
  idle: 'Not started',
  connecting: 'Connecting…',
  live: 'Live',
  reconnecting: 'Connection lost. Reconnecting…',
  paused: 'Paused',
  ended: 'Stopped',
}
