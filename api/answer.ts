/** What a handler answers with; the middleware renders it. */
export interface Answer {
  readonly status?: number
  /** Undefined with 204. A `JsonText` goes out as it is, and is released with the one answer that it is lent to: not where answers are kept (`isHot`, `mintOf`). */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
