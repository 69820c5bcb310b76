/** The response of a handler. The middleware renders it. */
export interface Answer {
  readonly status?: number
  /** Undefined with 204. A `JsonBytes` is sent as it is; anything else is serialised as JSON. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
