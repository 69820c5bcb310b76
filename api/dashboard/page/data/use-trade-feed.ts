import { refreshAccount } from '../account/account.ts'
import { markLiveTrade } from '../account/first-steps-state.ts'
import { useAtom } from '../atom.ts'
import { openSessionKey } from '../call-api.ts'
import { currentSession, onSessionChange } from '../session.ts'
import { isFollowing, LiveTradeFeed, type TradeFeedState } from './trade-feed.ts'
import type { TradeFilter } from './trade-list.ts'

/** How often received trades move to the list. */
const FLUSH_INTERVAL_MS = 200
/** How often the account is loaded while the feed is live: its messages do not say the balance. */
const BALANCE_INTERVAL_MS = 10_000

/**
 * The live trades of this session. They have one connection, and stay live, with their rows and the
 * credits spent, while other pages are open.
 */
const feed = new LiveTradeFeed()

setInterval(() => feed.flush(), FLUSH_INTERVAL_MS)
setInterval(() => {
  if (feed.state.get().phase.kind === 'live') refreshBalance()
}, BALANCE_INTERVAL_MS)

let lastPhase = feed.state.get().phase
feed.state.subscribe(() => {
  const { phase, spent } = feed.state.get()
  if (spent.messages > 0) markLiveTrade()
  if (phase.kind !== lastPhase.kind) refreshBalance() // what is reserved has changed
  lastPhase = phase
})

// After an expired session, the rows stay for the next sign-in of the same wallet.
let wallet = currentSession()?.wallet
onSessionChange((session, reason) => {
  const isSameWallet = session === null || session.wallet === wallet
  if (session !== null) wallet = session.wallet
  if (!isSameWallet || (session === null && reason === 'signed_out')) feed.reset()
  else if (session === null && isFollowing(feed.state.get().phase)) feed.pause()
})

function refreshBalance(): void {
  if (currentSession() !== null) void refreshAccount()
}

/** Returns the live trades of the session. */
export function useTradeFeed(): { readonly feed: LiveTradeFeed; readonly state: TradeFeedState } {
  return { feed, state: useAtom(feed.state) }
}

/** Starts the live trades. `budget` is in credits. */
export function startTradeFeed(filter: TradeFilter, budget: number): void {
  void withKey((key) => void feed.start(key, filter, budget))
}

/** Resumes the live trades, and renews the budget. */
export function resumeTradeFeed(from: 'last_trade' | 'now'): void {
  void withKey((key) => feed.resume(key, from))
}

async function withKey(run: (key: string) => void): Promise<void> {
  const asking = currentSession()?.wallet
  const opened = await openSessionKey()
  if (currentSession()?.wallet !== asking) return // signed out meanwhile
  if (opened.kind === 'ok') run(opened.body.session_key)
  else feed.fail(opened)
}
