import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Unanswered } from '../ask.ts'
import { useSession } from '../session.ts'
import { type FeedState, feedUrl, followSocket, type SocketMessage } from './feed-socket.ts'
import { refusalWords, type Words } from './socket-words.ts'

/** A subscriber's view: read once, then live over the socket, or read again each 10 s while that is not there. Neither costs credits. */
export interface View<State> {
  readonly state: State | null
  /** Unix seconds of the last word of the service. */
  readonly heardAt: number | null
  readonly link: FeedState
  readonly failure: Unanswered | null
  readonly notices: readonly Words[]
  reload(): void
}

/** How a view is made of what the service says. Both must be the same functions from one call to the next. */
export interface ViewRules<State, Answer> {
  readonly path: string
  readonly channel: 'watchlist' | 'signals'
  readonly whole: (answer: Answer, now: number, before: State | null) => State
  readonly change: (state: State, messages: readonly SocketMessage[], now: number) => State
}

export function useView<State, Answer>(rules: ViewRules<State, Answer>): View<State> {
  const session = useSession()
  const token = session?.token ?? null
  const [state, setState] = useState<State | null>(null)
  const [heardAt, setHeardAt] = useState<number | null>(null)
  const [link, setLink] = useState<FeedState>({ kind: 'connecting' })
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const [notices, setNotices] = useState<readonly Words[]>([])
  const [round, setRound] = useState(0)
  /** How the connection stands, for the timers. */
  const isLive = useRef(false)

  useEffect(() => {
    if (token === null) return
    let isGone = false
    let waiting: SocketMessage[] = []
    let socket: ReturnType<typeof followSocket> | null = null
    let isRefused = false
    isLive.current = false
    setFailure(null)
    setNotices([])
    setLink({ kind: 'connecting' })

    const heard = () => setHeardAt(Math.floor(Date.now() / 1000))
    const read = async () => {
      const answered = await ask<Answer>(rules.path, 'token')
      if (isGone) return answered
      if (answered.kind === 'answer') {
        setFailure(null)
        heard()
        // What the socket has said meanwhile is newer.
        const now = Date.now() / 1000
        if (!isLive.current) setState((before) => rules.whole(answered.body, now, before))
      } else {
        isRefused = answered.kind === 'refused' && answered.status < 429
        setFailure(answered)
      }
      return answered
    }
    const follow = () => {
      socket = followSocket({
        url: feedUrl(location),
        credential: token,
        channels: [rules.channel],
        onMessage(message) {
          waiting.push(message)
        },
        onState(now) {
          isLive.current = now.kind === 'live'
          setLink(now)
        },
        onNotice: (words) => setNotices([words]),
        async whyRefused() {
          const answered = await ask(rules.path, 'token')
          return answered.kind === 'refused' ? refusalWords(answered.code) : null
        },
      })
    }
    const flush = () => {
      if (waiting.length === 0) return
      const messages = waiting
      waiting = []
      heard()
      const now = Date.now() / 1000
      setState((before) => (before === null ? before : rules.change(before, messages, now)))
    }
    const flushing = setInterval(flush, 250)
    const polling = setInterval(() => {
      if (!isLive.current && socket !== null && !isRefused && !document.hidden) read()
    }, 10_000)
    read().then((answered) => {
      if (!isGone && answered.kind === 'answer') follow()
    })
    return () => {
      isGone = true
      clearInterval(flushing)
      clearInterval(polling)
      socket?.stop()
    }
  }, [token, rules, round])

  const reload = useCallback(() => setRound((count) => count + 1), [])
  return { state, heardAt, link, failure, notices, reload }
}
