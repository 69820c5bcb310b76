import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TradeItem } from '../../../items/trade.ts'
import { ask, type Unanswered } from '../ask.ts'
import { EMPTY_LIST, type FeedList, type TradeFilter, withHistory, withLive } from './feed-list.ts'
import { type FeedState, feedUrl, followSocket, type SocketMessage } from './feed-socket.ts'
import { refusalWords, type Words } from './socket-words.ts'

/** How many trades are listed; older ones leave at the end. */
export const LONGEST = 500
/** What a page of history costs, and what each live trade costs, in credits. */
export const PRICES = { history: 3, message: 1 } as const

/** Where the page is between being opened and being closed. */
export type FeedPhase = { readonly kind: 'idle' } | { readonly kind: 'paused' } | FeedState

/** Trades as they happen, told and paid for only after `start`. */
export interface TradeFeed {
  readonly phase: FeedPhase
  readonly list: FeedList
  /** Credits spent since the page was opened. */
  readonly spent: { readonly history: number; readonly messages: number }
  readonly notices: readonly Words[]
  readonly failure: Unanswered | null
  readonly isLoading: boolean
  /** There is older history. */
  readonly hasOlder: boolean
  /** It stopped before and can go on from there. */
  readonly canGoOn: boolean
  /** Lists a page of history, then follows from its head. */
  start(filter: TradeFilter, budget: number): void
  /** Follows again: from where it stopped, or from now. */
  goOn(from: 'there' | 'now'): void
  pause(): void
  older(): void
}

interface TradesAnswer {
  readonly items: readonly TradeItem[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

type TradeMessage = SocketMessage & { readonly late?: boolean; readonly data: TradeItem }

export function useTradeFeed(key: string | null): TradeFeed {
  const [phase, setPhase] = useState<FeedPhase>({ kind: 'idle' })
  const [list, setList] = useState<FeedList>(EMPTY_LIST)
  const [spent, setSpent] = useState({ history: 0, messages: 0 })
  const [notices, setNotices] = useState<readonly Words[]>([])
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const [isLoading, setIsLoading] = useState(false)
  const [next, setNext] = useState<string | null>(null)
  const feed = useRef<ReturnType<typeof followSocket> | null>(null)
  const place = useRef<string | undefined>(undefined)
  const wanted = useRef<{ filter: TradeFilter; budget: number; used: number }>({
    filter: { wallets: [], mints: [] },
    budget: 0,
    used: 0,
  })
  /** Messages that are not in the list yet: it is redrawn a few times a second, however many come. */
  const waiting = useRef<TradeMessage[]>([])

  // What one key was refused says nothing of another.
  useEffect(() => setFailure(null), [key])

  const tell = useCallback(
    (words: Words) =>
      setNotices((before) =>
        [words, ...before.filter(({ text }) => text !== words.text)].slice(0, 5),
      ),
    [],
  )

  const flush = useCallback(() => {
    const messages = waiting.current
    if (messages.length === 0) return
    waiting.current = []
    setList((before) => withLive(before, messages, LONGEST))
    setSpent((before) => ({ ...before, messages: before.messages + messages.length }))
  }, [])

  const stop = useCallback(() => {
    place.current = feed.current?.position() ?? place.current
    feed.current?.stop()
    feed.current = null
    flush()
  }, [flush])

  useEffect(() => {
    const timer = setInterval(flush, 200)
    return () => {
      clearInterval(timer)
      feed.current?.stop()
    }
  }, [flush])

  const follow = useCallback(
    (credential: string) => {
      feed.current?.stop()
      feed.current = followSocket({
        url: feedUrl(location),
        credential,
        channels: ['trades'],
        ...wanted.current.filter,
        after: place.current,
        onMessage(message) {
          if (message.channel === undefined) return
          waiting.current.push(message as TradeMessage) // the one channel that was asked for
          wanted.current.used += PRICES.message
          if (wanted.current.used < wanted.current.budget) return
          stop()
          setPhase({ kind: 'paused' })
          tell({
            tone: 'warn',
            text: `Paused: the ${wanted.current.budget} credits that you allowed are used. Go on to allow as many again.`,
          })
        },
        onState(state) {
          if (state.kind === 'ended') {
            stop()
            tell(state.why)
          }
          setPhase(state)
        },
        onNotice: tell,
        async whyRefused() {
          // Asks for a wallet that cannot be: the answer is a refusal in any case, and a refusal costs nothing.
          const answered = await ask('/wallets/W0/metrics', 'key')
          if (answered.kind !== 'refused') return null
          const why = refusalWords(answered.code)
          if (why !== null) setFailure(answered)
          return why
        },
      })
    },
    [stop, tell],
  )

  const readHistory = useCallback(async (cursor: string | null) => {
    setIsLoading(true)
    setFailure(null)
    const answered = await ask<TradesAnswer>(
      `/trades?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      'key',
    )
    setIsLoading(false)
    if (answered.kind !== 'answer') {
      setFailure(answered)
      return null
    }
    const { items, has_more, next_cursor } = answered.body
    setList((before) => withHistory(before, items, wanted.current.filter, LONGEST))
    wanted.current.used += PRICES.history
    setSpent((before) => ({ ...before, history: before.history + PRICES.history }))
    setNext(has_more ? next_cursor : null)
    return { head: answered.headers.get('x-head-cursor') ?? undefined }
  }, [])

  const start = useCallback(
    (filter: TradeFilter, budget: number) => {
      if (key === null) return
      feed.current?.stop()
      feed.current = null
      waiting.current = []
      wanted.current = { filter, budget, used: 0 }
      place.current = undefined
      setList(EMPTY_LIST)
      setNotices([])
      setPhase({ kind: 'connecting' })
      readHistory(null).then((read) => {
        if (read === null) return setPhase({ kind: 'idle' })
        place.current = read.head
        follow(key)
      })
    },
    [key, readHistory, follow],
  )

  const goOn = useCallback(
    (from: 'there' | 'now') => {
      if (key === null) return
      if (from === 'now') place.current = undefined
      wanted.current.used = 0
      setNotices([])
      setFailure(null)
      follow(key)
    },
    [key, follow],
  )

  const pause = useCallback(() => {
    stop()
    setPhase({ kind: 'paused' })
  }, [stop])

  const older = useCallback(() => {
    if (next !== null) readHistory(next)
  }, [next, readHistory])

  const canGoOn = (phase.kind === 'paused' || phase.kind === 'ended') && place.current !== undefined
  return useMemo(
    () => ({
      phase,
      list,
      spent,
      notices,
      failure,
      isLoading,
      hasOlder: next !== null && list.trades.length < LONGEST,
      canGoOn,
      start,
      goOn,
      pause,
      older,
    }),
    [phase, list, spent, notices, failure, isLoading, next, canGoOn, start, goOn, pause, older],
  )
}
