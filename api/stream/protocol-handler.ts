import { frameText } from './frame.ts'
import {
  type Channel,
  CLOSE_CODES,
  type CloseReason,
  type MessageFault,
  type ServerMessage,
} from './messages.ts'
import { type ClientMessage, MAX_MESSAGE_BYTES, type Subscribe } from './protocol.ts'

/** Writes to the socket of one client. */
export interface Transport {
  /** Queues whole frames. `sent` is called once they have left this process. */
  write(frames: Buffer, sent?: () => void): void
  /** Buffers frames until `uncork`, which writes them at once. */
  cork(): void
  uncork(): void
  /** Sends a protocol ping (RFC 6455 5.5.2). */
  ping(): void
  /** Starts the closing handshake with a close code. */
  close(code: number): void
  /** Drops the socket without a closing handshake. */
  terminate(): void
  /** False once the client has begun to close: it gets nothing that is written after that. */
  readonly isOpen: boolean
  /** Bytes queued in this process that the client has not read. */
  readonly unsentBytes: number
}

/** Close codes by the reason for which the service ends a connection. */
const CLOSE_CODE_OF = {
  ...CLOSE_CODES,
  too_many_errors: 1008,
  too_many_messages: 1008,
  message_too_big: 1009,
} as const

/**
 * Why the service ends a connection. `unanswered`: the client answered no ping; it gets no close.
 */
export type EndReason = keyof typeof CLOSE_CODE_OF | 'unanswered'
/** Every `EndReason`. */
export const END_REASONS = [...Object.keys(CLOSE_CODE_OF), 'unanswered'] as EndReason[] // own keys

/** How many messages and protocol pings a client may send on one connection. */
export interface MessageLimit {
  /** Per minute, in windows that start with the first message; 0: no limit. */
  readonly perMinute: number
  /** Returns the current time in milliseconds. */
  readonly now: () => number
}

/** Dependencies of a protocol handler. `Position` is what the cursors decode to. */
export interface ProtocolHandlerDeps<Position> {
  readonly transport: Transport
  /** Parses a text message. */
  read(text: string): ClientMessage<Position>
  onSubscribe(message: Subscribe<Position>): void
  onUnsubscribe(channels: readonly Channel[]): void
  isSubscribed(): boolean
  readonly limit: MessageLimit
  /** Called once, after the close message was queued. */
  onEnd(reason: EndReason): void
}

/**
 * The part of the feed protocol that trade and view connections share (rules F2, F7): reads client
 * messages, answers bad ones, limits their rate, sends heartbeats and closes the connection.
 */
export class ProtocolHandler<Position> {
  readonly #deps: ProtocolHandlerDeps<Position>
  #consecutiveErrors = 0
  #unansweredPings = 0
  #isOpen = true
  /** Messages since `#windowStart`. */
  #messages = 0
  #windowStart = Number.NEGATIVE_INFINITY

  constructor(deps: ProtocolHandlerDeps<Position>) {
    this.#deps = deps
  }

  /** False once the service has ended the connection, or the client has begun to close it. */
  get isOpen(): boolean {
    return this.#isOpen && this.#deps.transport.isOpen
  }

  /** Whether the client has left more unread than a live connection may (rule F7). */
  get isSlow(): boolean {
    return this.#deps.transport.unsentBytes > MAX_UNSENT_BYTES
  }

  /** Handles a message of the client; `text` is null for a binary one. */
  receive(text: string | null, bytes: number): void {
    this.countMessage()
    if (!this.#isOpen) return
    if (bytes > MAX_MESSAGE_BYTES) {
      this.#sendError('invalid_message', `A message has at most ${MAX_MESSAGE_BYTES} bytes.`)
      this.end('message_too_big')
      return
    }
    const message: ClientMessage<Position> =
      text === null
        ? { kind: 'bad', code: 'invalid_message', message: 'Expected text, not binary.' }
        : this.#deps.read(text)
    if (message.kind === 'bad') {
      this.#sendError(message.code, message.message)
      if (++this.#consecutiveErrors >= MAX_ERRORS) this.end('too_many_errors')
      return
    }
    this.#consecutiveErrors = 0
    if (message.kind === 'ping') this.send({ type: 'pong' })
    else if (message.kind === 'subscribe') this.#deps.onSubscribe(message)
    else {
      this.#deps.onUnsubscribe(message.channels)
      this.send({ type: 'unsubscribed', channels: message.channels })
    }
    if (this.isSlow) this.end('slow_reader')
  }

  /** Counts a message or protocol ping, and ends the connection above the rate limit. */
  countMessage(): void {
    const { perMinute, now } = this.#deps.limit
    if (!this.#isOpen || perMinute === 0) return
    if (now() - this.#windowStart >= 60_000) {
      this.#windowStart = now()
      this.#messages = 0
    }
    if (++this.#messages <= perMinute) return
    this.#sendError('rate_limited', `A connection may send at most ${perMinute} messages a minute.`)
    this.end('too_many_messages')
  }

  /**
   * Sends a heartbeat, every 30 s. Ends the connection if the client answered none of the last two,
   * or reads too slowly. Returns whether the connection is open.
   */
  heartbeat(): boolean {
    if (!this.#isOpen) return false
    const { transport } = this.#deps
    if (this.#unansweredPings >= MAX_UNANSWERED) this.end('unanswered')
    else if (this.isSlow) this.end('slow_reader')
    else {
      this.#unansweredPings++
      transport.cork()
      // No message is sent before a subscription (rule F2). A protocol ping is not a message.
      if (this.#deps.isSubscribed()) this.send({ type: 'ping' })
      transport.ping()
      transport.uncork()
    }
    return this.#isOpen
  }

  /** Handles a protocol pong. An unsolicited one counts as a message. */
  onPong(): void {
    if (this.#unansweredPings === 0) this.countMessage()
    else this.#unansweredPings = 0
  }

  /** Sends a message as JSON. */
  send(message: ServerMessage): void {
    this.#deps.transport.write(frameText(JSON.stringify(message)))
  }

  /** Sends the reason and closes the connection. Does nothing once it is closed. */
  end(reason: EndReason): void {
    if (!this.#isOpen) return
    const { transport, onEnd } = this.#deps
    if (reason === 'unanswered') transport.terminate()
    else {
      // The other reasons follow an `error` message.
      if (reason in CLOSE_CODES) this.send({ type: reason as CloseReason })
      transport.close(CLOSE_CODE_OF[reason])
    }
    this.#isOpen = false
    onEnd(reason)
  }

  /** Records that the socket was closed. */
  onSocketClosed(): void {
    this.#isOpen = false
  }

  #sendError(code: MessageFault, message: string): void {
    this.send({ type: 'error', code, message })
  }
}

const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_ERRORS = 3
const MAX_UNANSWERED = 2
