import { isFinal, noticeWords, type Words } from './socket-words.ts'

/** Where a followed socket is: on its way, open and subscribed, cut and coming back, or over. */
export type FeedState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'ended'; readonly why: Words }

/** What the service says, as far as every channel has it alike. */
export interface SocketMessage {
  readonly channel?: string
  readonly snapshot?: boolean
  readonly event?: string
  readonly id?: string
  readonly type?: string
  readonly code?: string
  readonly message?: string
  readonly cursor?: string
  readonly oldest?: string
  readonly balance_credits?: number
}

export interface FollowedSocket {
  readonly url: string
  /** An API key or a token of the dashboard; it goes in the handshake's protocols, never in the address. */
  readonly credential: string
  readonly channels: readonly string[]
  readonly wallets?: readonly string[]
  readonly mints?: readonly string[]
  /** Go on after this position; from now on when there is none. */
  readonly after?: string | undefined
  /** Everything that the service says but beats, in order; notices in words too, by `onNotice`. */
  onMessage(message: SocketMessage): void
  onState(state: FeedState): void
  onNotice(words: Words): void
  /** Why a connection is refused, asked where one never opened: a browser is not told. Null: not for good, so try again. */
  whyRefused(): Promise<Words | null>
}

/** What a socket of the browser offers of what is used here. */
export interface SocketLike {
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: (() => void) | null
  send(text: string): void
  close(): void
}

export interface SocketWorld {
  open(url: string, protocols: string[]): SocketLike
  /** Does it after so many milliseconds; gives what calls it off. */
  later(ms: number, act: () => void): () => void
  random(): number
}

/**
 * Follows channels of `GET /ws` over as many connections as it takes: each goes on after the last position of the one before, so that nothing is missed or repeated (rule F4).
 * Comes back by itself after a cut, later and later up to 20 s; not when that would not help. Gives the position it is at, and a way to end it.
 */
export function followSocket(
  followed: FollowedSocket,
  world: SocketWorld = BROWSER,
): { stop(): void; position(): string | undefined } {
  let position = followed.after
  let failures = 0
  let isOver = false
  let socket: SocketLike | null = null
  let callOff = () => {}

  function end(why: Words | null): void {
    if (isOver) return
    isOver = true
    callOff()
    socket?.close()
    if (why !== null) followed.onState({ kind: 'ended', why })
  }

  function listen(opened: SocketLike): void {
    let hasOpened = false
    const expectWord = () => {
      callOff()
      callOff = world.later(SILENT_MS, () => opened.close())
    }
    opened.onopen = () => {
      hasOpened = true
      expectWord()
      const { channels, wallets = [], mints = [] } = followed
      opened.send(
        JSON.stringify({
          action: 'subscribe',
          channels,
          ...(wallets.length > 0 && { wallets }),
          ...(mints.length > 0 && { mints }),
          ...(position !== undefined && { after: position }),
        }),
      )
    }
    opened.onmessage = ({ data }) => {
      if (isOver || typeof data !== 'string') return
      expectWord()
      take(JSON.parse(data) as SocketMessage) // the service speaks by its schemas
    }
    opened.onclose = () => {
      if (isOver) return
      callOff()
      followed.onState({ kind: 'cut' })
      if (hasOpened) comeBack()
      else
        followed.whyRefused().then(
          (why) => (why === null ? comeBack() : end(why)),
          () => comeBack(),
        )
    }
  }

  function take(message: SocketMessage): void {
    const { type = '' } = message
    if (type === 'ping' || type === 'pong') return
    if (message.channel !== undefined) {
      failures = 0
      position = message.id ?? position
    } else if (type === 'subscribed') {
      position ??= message.cursor
      followed.onState({ kind: 'live' })
    } else if (type === 'snapshot_complete') position = message.cursor ?? position
    else if (type === 'gap') position = message.oldest ?? position
    followed.onMessage(message)
    if (message.channel !== undefined) return
    const words = noticeWords({ ...message, type })
    if (type === 'error' || isFinal(type))
      end(words ?? { tone: 'bad', text: `The feed has ended: ${type}.` })
    // Of what is free, a snapshot follows a gap.
    else if (words !== null && !(type === 'gap' && !followed.channels.includes('trades')))
      followed.onNotice(words)
  }

  function comeBack(): void {
    if (isOver) return
    const longest = Math.min(20_000, 500 * 2 ** failures++)
    callOff = world.later(longest * (0.5 + world.random() / 2), connect)
  }

  function connect(): void {
    followed.onState({ kind: 'connecting' })
    socket = world.open(followed.url, ['bearer', followed.credential])
    listen(socket)
  }

  connect()
  return { stop: () => end(null), position: () => position }
}

/** The service says something each 30 s; one that fell silent is gone. */
const SILENT_MS = 75_000

const BROWSER: SocketWorld = {
  open: (url, protocols) => new WebSocket(url, protocols) as SocketLike, // a WebSocket calls these with events that have more
  later(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Where the feed of this service is, seen from its own pages. */
export function feedUrl(location: { readonly protocol: string; readonly host: string }): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/ws`
}
