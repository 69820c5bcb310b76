/** The answer of a handler. The middleware renders it. */
export interface Answer {
  readonly status?: number
  /**
   * Undefined with 204. A `JsonText` is sent unchanged and released after that one answer. So a
   * resource whose answers are cached (`isHot`, `mintOf`) must not return one.
   */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
