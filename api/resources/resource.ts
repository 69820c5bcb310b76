import { z } from 'zod'
import type { Perturb } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { CursorCodec } from '../cursor.ts'
import type { ProblemCode } from '../errors.ts'
import type { MetricsReader } from '../rows/metrics-reader.ts'
import type { OpenPositions } from '../rows/open-positions.ts'
import type { StoragePosition } from '../storage-position.ts'

/** What the documents say of a resource beside its schemas. */
export interface ResourceDocs<Body = unknown> {
  readonly tag: 'Tokens' | 'Wallets' | 'Trades' | 'Service'
  readonly summary: string
  /** Markdown. */
  readonly description: string
  /** Refusals of its own, beside those that its kind of resource has. */
  readonly problems?: readonly ProblemCode[]
  /** Response fields of its own: name to meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses of its answers; default 200 alone. */
  readonly statuses?: readonly number[]
  readonly example: Body
  /** Where an answer leads: OpenAPI links by name. */
  readonly links?: Readonly<Record<string, Link>>
}

/** What to ask next with something of an answer (OpenAPI Link Object). */
export interface Link {
  readonly operationId: string
  readonly description: string
  /** Parameter to runtime expression, for example `$response.body#/next_cursor`. */
  readonly parameters: Readonly<Record<string, string>>
}

/** One thing the API answers: declared once; the middleware validates, charges and renders by it, and so do the documents. */
export interface Resource<Input = never> {
  /** As @koa/router reads it, `/wallets/:alias/metrics`. */
  readonly path: string
  /** Credits of an answer; null for what anybody may ask without a key. */
  readonly price: number | null
  /** Not counted by the rate limits: what watchers ask (decisions D6). */
  readonly isUnlimited?: true
  readonly docs: ResourceDocs
  readonly params: z.ZodObject
  /** Of the query as text; what a key gives twice is a list. Unknown keys are dropped. */
  readonly query: z.ZodObject
  /** Path and query together, read by both schemas, as the handler wants them. */
  readonly input: z.ZodType
  /** What a 2xx answer's body is. */
  readonly answer: z.ZodType
  /** Whether many ask for just this, so that its bytes are kept until storage moves on. */
  isHot?(input: Input): boolean
  /** The mint that it is about alone, so that its bytes are kept until there are news of that mint. */
  mintOf?(input: Input): string
  handle(input: Input): Promise<Answer>
}

export interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Declares a resource whose handler gets what its schemas give; `read` is for what depends on several parameters. */
export function resource<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Input = Both<Params, Query>,
>(declaration: {
  readonly path: string
  readonly price: number | null
  readonly isUnlimited?: true
  readonly docs: ResourceDocs<z.input<Body>>
  readonly params: Params
  readonly query: Query
  readonly answer: Body
  /** Adds issues at paths such as `['query', 'cursor']`. */
  read?(input: Both<Params, Query>, context: z.RefinementCtx): Input
  isHot?(input: Input): boolean
  mintOf?(input: Input): string
  handle(input: Input): Promise<Answer & { readonly body: z.input<Body> }>
}): Resource<Input> {
  const { params, query, read } = declaration
  const both: z.ZodType<Both<Params, Query>> = z.object({ params, query }) as never // TypeScript does not see through a generic object
  return { ...declaration, input: read === undefined ? both : both.transform(read) }
}

type Both<Params extends z.ZodObject, Query extends z.ZodObject> = {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
}

/** What resources read from. */
export interface ResourceDeps {
  readonly store: Store
  readonly position: StoragePosition
  readonly cursors: CursorCodec
  /** How what is served differs from what happened (decisions I2); null: it does not. */
  readonly perturb: Perturb | null
  /** Of the log that the feed follows. */
  readonly epoch: number
  readonly readMetrics: MetricsReader
  readonly openPositions: Pick<OpenPositions, 'ready' | 'held' | 'holdings'>
}
