import { pauseUnlessAborted } from './pause-unless-aborted.ts'
import { Refused } from './refused.ts'

/** What an answer to a call has cost, and what its header says besides. */
export interface AnsweredCall {
  /** Path and query. */
  readonly path: string
  readonly cost: number
  /** Credits left afterwards; null if the service does not say. */
  readonly remaining: number | null
  /** Names of parameters that the resource does not know. */
  readonly unknownParameters: readonly string[]
}

/** How calls are made. */
export interface CallOptions {
  /** Longest time of one attempt, in milliseconds; default 30,000. */
  readonly timeoutMs?: number
  /**
   * How often a call is repeated when the service cannot be reached or answers 408 or 503; default
   * 4. A 503 costs nothing. An answer that is lost on the way has its price, and so has the
   * repeated call.
   */
  readonly retries?: number
  /** First pause before a repetition, in milliseconds; it doubles, with jitter. Default 250. */
  readonly retryMs?: number
  /** Called with each answer, refusals too. */
  readonly onAnswer?: (call: AnsweredCall) => void
}

/** Parameters of a query; undefined ones are left out. */
export type QueryValues = Readonly<Record<string, string | number | undefined>>

/** Refusals that say nothing about the call: it came too slowly, or nothing can be served now. */
const REPEATED = [408, 503]
/** The longest wait that `Retry-After` of a 503 may ask for. */
const LONGEST_WAIT_MS = 30_000

/**
 * Calls of the REST API. They reject with `Refused` on an error response, and as `fetch` does when
 * the service cannot be reached, each after the last repetition.
 */
export class RestCalls {
  readonly #url: string
  readonly #bearer: string | null
  readonly #options: CallOptions

  /**
   * `url`: base URL of the service; throws a `TypeError` for any other text. `bearer`: API key or
   * token; null for public paths.
   */
  constructor(url: string, bearer: string | null, options: CallOptions) {
    if (!/^https?:\/\//.test(url))
      throw new TypeError('url: expected one that begins with http:// or https://')
    this.#url = url.replace(/\/$/, '')
    this.#bearer = bearer
    this.#options = options
  }

  /** URL of the feed of this service. */
  get feedUrl(): string {
    return `${this.#url.replace(/^http/, 'ws')}/ws`
  }

  async get<Body>(path: string, query: QueryValues = {}): Promise<Body> {
    return (await this.getResponse<Body>(path, query)).body
  }

  async getResponse<Body>(
    path: string,
    query: QueryValues,
  ): Promise<{ readonly body: Body; readonly headers: Headers }> {
    const url = new URL(`${this.#url}${path}`)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const response = await this.#repeated(url, {})
    return { body: (await response.json()) as Body, headers: response.headers } // by the schemas
  }

  async post<Body>(path: string, body: object): Promise<Body> {
    const response = await this.#repeated(new URL(`${this.#url}${path}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Body // by the schemas
  }

  async #repeated(url: URL, init: RequestInit): Promise<Response> {
    const { retries = 4, retryMs = 250 } = this.#options
    for (let left = retries, pauseMs = retryMs; ; left -= 1, pauseMs *= 2) {
      const outcome = await this.#attempt(url, init).catch((error: unknown) => error)
      if (outcome instanceof Response) return outcome
      const isRefused = outcome instanceof Refused
      if (left <= 0 || (isRefused && !REPEATED.includes(outcome.status))) throw outcome
      const asked = isRefused ? 1000 * (outcome.retryAfter ?? 0) : 0
      const wait = Math.min(LONGEST_WAIT_MS, Math.max(asked, pauseMs))
      await pauseUnlessAborted(wait * (0.75 + Math.random() / 2))
    }
  }

  async #attempt(url: URL, init: RequestInit): Promise<Response> {
    const { timeoutMs = 30_000, onAnswer } = this.#options
    const response = await fetch(url, {
      ...init,
      headers: {
        ...(this.#bearer !== null && { authorization: `Bearer ${this.#bearer}` }),
        ...init.headers,
      },
      signal: AbortSignal.timeout(timeoutMs),
    })
    onAnswer?.(answered(`${url.pathname}${url.search}`, response.headers))
    // The body too must come in time, so that its loss is repeated like that of the head.
    const text = await response.text()
    if (response.ok) return new Response(text, response)
    throw new Refused(response, problemIn(text))
  }
}

function answered(path: string, headers: Headers): AnsweredCall {
  const remaining = headers.get('x-credits-remaining')
  return {
    path,
    cost: Number(headers.get('x-credits-cost') ?? 0),
    remaining: remaining === null ? null : Number(remaining),
    unknownParameters: headers.get('x-unknown-parameters')?.split(', ') ?? [],
  }
}

/** The problem document of a refusal; empty for any other text. */
function problemIn(text: string): ConstructorParameters<typeof Refused>[1] {
  try {
    const problem: unknown = JSON.parse(text)
    return typeof problem === 'object' && problem !== null ? problem : {}
  } catch {
    return {}
  }
}
