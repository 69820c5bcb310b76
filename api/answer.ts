/** The response of a handler. The middleware renders it. */
export interface Answer {
  readonly status?: number
  /**
   * Undefined with 204. A `JsonText` is sent unchanged and released after that one response, so a
   * resource whose responses are cached (`isHot`, `mintOf`) must not return one.
   */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The response has nothing of what was asked for yet, so it costs nothing (rule D5). */
  readonly isFree?: true
}
