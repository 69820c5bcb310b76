import { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import type { CursorCodec } from '../cursor.ts'
import type { MetricsReader } from '../rows/metrics-reader.ts'
import type { StoragePosition } from '../storage-position.ts'

/** One thing the API answers: declared once; the middleware validates, charges and renders by it. */
export interface Resource<Input = never> {
  /** As @koa/router reads it, `/wallets/:alias/metrics`. */
  readonly path: string
  /** Credits of an answer; null for what anybody may ask without a key. */
  readonly price: number | null
  /** Not counted by the rate limits: what watchers ask (decisions D6). */
  readonly isUnlimited?: true
  readonly params: z.ZodType
  /** Of the query as text; what a key gives twice is a list. Unknown keys are dropped. */
  readonly query: z.ZodType
  /** Path and query together, read by both schemas, as the handler wants them. */
  readonly input: z.ZodType
  /** What a 2xx answer's body is. */
  readonly answer: z.ZodType
  /** Whether many ask for just this, so that its bytes are kept until storage moves on. */
  isHot?(input: Input): boolean
  handle(input: Input): Promise<Answer>
}

export interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Declares a resource whose handler gets what its schemas give; `read` is for what depends on several parameters. */
export function resource<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Input = Both<Params, Query>,
>(declaration: {
  readonly path: string
  readonly price: number | null
  readonly isUnlimited?: true
  readonly params: Params
  readonly query: Query
  readonly answer: Body
  /** Adds issues at paths such as `['query', 'cursor']`. */
  read?(input: Both<Params, Query>, context: z.RefinementCtx): Input
  isHot?(input: Input): boolean
  handle(input: Input): Promise<Answer & { readonly body: z.input<Body> }>
}): Resource<Input> {
  const { params, query, read } = declaration
  const both: z.ZodType<Both<Params, Query>> = z.object({ params, query }) as never // TypeScript does not see through a generic object
  return { ...declaration, input: read === undefined ? both : both.transform(read) }
}

type Both<Params extends z.ZodType, Query extends z.ZodType> = {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
}

/** What resources read from. */
export interface ResourceDeps {
  readonly store: Store
  readonly position: StoragePosition
  readonly cursors: CursorCodec
  readonly readMetrics: MetricsReader
}
