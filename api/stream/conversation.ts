import { frameText } from './frame.ts'
import {
  type Channel,
  CLOSE_CODES,
  type LastWord,
  type MessageFault,
  type ServerMessage,
} from './messages.ts'
import { type ClientMessage, MAX_MESSAGE_BYTES, type Subscribe } from './protocol.ts'

/** The client's end of a connection. */
export interface Transport {
  /** Queues whole frames; `sent` is called once they have left this process. */
  write(frames: Buffer, sent?: () => void): void
  /** Holds frames back until `flush`, to write them at once. */
  hold(): void
  flush(): void
  ping(): void
  close(code: number): void
  terminate(): void
  /** Bytes queued that the client has not taken. */
  readonly unsentBytes: number
}

/** Why the service ends a connection, with the close code that tells it; `unanswered`: without a word. */
const ENDS = {
  ...CLOSE_CODES,
  too_many_errors: 1008,
  too_many_messages: 1008,
  message_too_big: 1009,
} as const
export type EndReason = keyof typeof ENDS | 'unanswered'

/** How many messages and protocol pings a client may send on one connection. */
export interface MessageLimit {
  /** In a minute, counted from the first; 0: no limit. */
  readonly perMinute: number
  /** Milliseconds. */
  readonly now: () => number
}

/** What a connection is for: it is told what the client wants. `Position` is what its cursors say. */
export interface ConversationDeps<Position> {
  readonly transport: Transport
  read(text: string): ClientMessage<Position>
  onSubscribe(message: Subscribe<Position>): void
  onUnsubscribe(channels: readonly Channel[]): void
  isSubscribed(): boolean
  readonly limit: MessageLimit
  /** Called once, after the last word. */
  onEnd(reason: EndReason): void
}

/** What client and service say to each other beside what the connection is for: bad messages, pings, the last word (rules F2, F7). */
export class Conversation<Position> {
  readonly #deps: ConversationDeps<Position>
  #errorsInARow = 0
  #unansweredPings = 0
  #isOpen = true
  /** Messages since `#minuteBegan`. */
  #messages = 0
  #minuteBegan = Number.NEGATIVE_INFINITY

  constructor(deps: ConversationDeps<Position>) {
    this.#deps = deps
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** More is unsent than somebody who keeps up leaves (rule F7). */
  get isSlow(): boolean {
    return this.#deps.transport.unsentBytes > MAX_UNSENT_BYTES
  }

  receive(text: string | null, bytes: number): void {
    this.count()
    if (!this.#isOpen) return
    if (bytes > MAX_MESSAGE_BYTES) {
      this.#fault('invalid_message', `A message has at most ${MAX_MESSAGE_BYTES} bytes.`)
      this.end('message_too_big')
      return
    }
    const message =
      text === null
        ? ({ kind: 'bad', code: 'invalid_message', message: 'Expected text, not binary.' } as const)
        : this.#deps.read(text)
    if (message.kind === 'bad') {
      this.#fault(message.code, message.message)
      if (++this.#errorsInARow >= MAX_ERRORS) this.end('too_many_errors')
      return
    }
    this.#errorsInARow = 0
    if (message.kind === 'ping') this.tell({ type: 'pong' })
    else if (message.kind === 'subscribe') this.#deps.onSubscribe(message)
    else {
      this.#deps.onUnsubscribe(message.channels)
      this.tell({ type: 'unsubscribed', channels: message.channels })
    }
    if (this.isSlow) this.end('slow_reader')
  }

  /**
   * Counts a message or a protocol ping, and ends the connection of a client that sends too many.
   */
  count(): void {
    const { perMinute, now } = this.#deps.limit
    if (!this.#isOpen || perMinute === 0) return
    if (now() - this.#minuteBegan >= 60_000) {
      this.#minuteBegan = now()
      this.#messages = 0
    }
    if (++this.#messages <= perMinute) return
    this.#fault('rate_limited', `A connection takes at most ${perMinute} messages a minute.`)
    this.end('too_many_messages')
  }

  /** Every 30 s: is the client still there? False when it is not. */
  beat(): boolean {
    if (!this.#isOpen) return false
    const { transport } = this.#deps
    if (this.#unansweredPings >= MAX_UNANSWERED) this.end('unanswered')
    else if (this.isSlow) this.end('slow_reader')
    else {
      this.#unansweredPings++
      // Nothing is sent before a subscription (rule F2); the protocol's own ping is no message.
      if (this.#deps.isSubscribed()) this.tell({ type: 'ping' })
      transport.ping()
    }
    return this.#isOpen
  }

  /** A pong that no ping asked for counts as a message. */
  onPong(): void {
    if (this.#unansweredPings === 0) this.count()
    else this.#unansweredPings = 0
  }

  tell(message: ServerMessage): void {
    this.#deps.transport.write(frameText(JSON.stringify(message)))
  }

  /** Says why, and closes. */
  end(reason: EndReason): void {
    if (!this.#isOpen) return
    const { transport, onEnd } = this.#deps
    if (reason === 'unanswered') transport.terminate()
    else {
      if (reason in CLOSE_CODES) this.tell({ type: reason as LastWord }) // else an error was told
      transport.close(ENDS[reason])
    }
    this.#isOpen = false
    onEnd(reason)
  }

  /** The connection is gone. */
  gone(): void {
    this.#isOpen = false
  }

  #fault(code: MessageFault, message: string): void {
    this.tell({ type: 'error', code, message })
  }
}

const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_ERRORS = 3
const MAX_UNANSWERED = 2
