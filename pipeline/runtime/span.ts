/** A finished span of a trace: one step of the work on a slot or a request (rule K22). */
export interface Span {
  readonly name: string
  /** `server` answers a request, `producer` appends to the log, `consumer` reads it. */
  readonly kind: 'internal' | 'server' | 'producer' | 'consumer'
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Id of the span that caused this one; null for the root of a trace. */
  readonly parentId: string | null
  /** Unix milliseconds, with fractions. */
  readonly startMs: number
  /** Unix milliseconds, with fractions; not before `startMs`. */
  readonly endMs: number
  /** Attributes. None names a wallet, a customer, a key or what a customer asked for. */
  readonly attributes: Readonly<Record<string, string | number>>
  /** Whether the service failed at this step. A refusal is no failure. */
  readonly failed: boolean
}

/** Takes a finished span. It never waits, and drops the span if too many wait to be sent. */
export type AddSpan = (span: Span) => void
