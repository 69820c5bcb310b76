/**
 * Rows of the report. Cases of the first four are generated; each burst is one case and has its own
 * row.
 */
export type CaseKind = 'requests' | 'feed' | 'connections' | 'slow'

/**
 * One hostile act, and the outcomes that the contract allows. A case is plain data, so that the
 * same seed gives the same cases. Placeholders (`{{key}}`) stand for secrets and for values that
 * only the running service has.
 */
export interface AbuseCase {
  readonly kind: CaseKind
  /** Cases of one group attack the same thing; a short run takes some of every group. */
  readonly group: string
  readonly title: string
  readonly act: Exchange | FeedConversation
  readonly expect: AllowedOutcome
  /** Longest duration of the case. */
  readonly limitMs: number
}

/** Values that replace placeholders when a case is sent. */
export interface Placeholders {
  readonly key: string
  /** A dashboard token of a wallet without Pro. */
  readonly token: string
  /** The `next_cursor` of a page of `/trades`. */
  readonly cursor: string
  /** A mint that was traded. */
  readonly mint: string
}

/** Bytes on a connection of HTTP. */
export interface Exchange {
  readonly via: 'http'
  /** Text is sent as Latin-1, one byte per character; a number is a pause in milliseconds. */
  readonly pieces: readonly (string | number)[]
  /** The client closes its half after the last piece. */
  readonly endsAfter?: boolean
  /** The case ends when the server closes the connection, not with the last response. */
  readonly waitsForClose?: boolean
}

/** A conversation on the feed's socket, after a valid handshake. */
export interface FeedConversation {
  readonly via: 'feed'
  readonly steps: readonly FeedStep[]
}

/** One step of a conversation with the feed. */
export type FeedStep =
  | { readonly frame: Frame; readonly times?: number }
  /** Raw bytes instead of a frame, as Latin-1. */
  | { readonly bytes: string }
  | { readonly pauseMs: number }
  /** The client closes its half, or resets the connection. */
  | { readonly cut: 'end' | 'reset' }

/** A WebSocket frame (RFC 6455 section 5.2), in which any field may be wrong. */
export interface Frame {
  readonly opcode: number
  /** As Latin-1, one byte per character. */
  readonly payload: string
  readonly isFinal?: boolean
  readonly isMasked?: boolean
  /** The three reserved bits. */
  readonly reserved?: number
  /** The payload length that the frame declares; by default the real one. */
  readonly declares?: number
}

/** The outcomes that the contract allows for a case. */
export interface AllowedOutcome {
  /** Allowed statuses of each response; 0 allows closing without a response. */
  readonly statuses?: readonly number[]
  /**
   * Allowed codes of refusals, and of `error` messages on the feed; by default any documented one.
   */
  readonly codes?: readonly string[]
  /** Number of responses; 1 by default. */
  readonly answers?: number
  /**
   * Close codes with which the feed must end the connection; without them, it must still answer a
   * ping.
   */
  readonly closes?: readonly number[]
  /** Whether the client cut the connection itself, so that nothing more is checked. */
  readonly isCut?: boolean
}

/** Replaces the placeholders of a text. */
export function fillPlaceholders(text: string, values: Placeholders): string {
  return text.replace(
    /\{\{(key|token|cursor|mint)\}\}/g,
    (_, name: keyof Placeholders) => values[name],
  )
}

/** A request head, and its body, as text to send. */
export function request(
  line: string,
  options: {
    readonly credential?: string | null
    readonly fields?: readonly string[]
    readonly body?: string
    readonly keepsAlive?: boolean
  } = {},
): string {
  const { credential = null, fields = [], body = '', keepsAlive = false } = options
  return [
    `${line} HTTP/1.1`,
    'Host: api.example',
    ...(keepsAlive ? [] : ['Connection: close']),
    ...(credential === null ? [] : [`Authorization: ${credential}`]),
    ...fields,
    `\r\n${body}`,
  ].join('\r\n')
}

/** UTF-8 bytes as text to send. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
}
