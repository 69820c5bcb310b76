import { z } from 'zod'
import type { Perturb } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Answer } from '../answer.ts'
import type { Session } from '../auth/session.ts'
import type { CursorCodec } from '../cursor.ts'
import type { ProblemCode } from '../errors.ts'
import type { JsonText } from '../rendered-answer.ts'
import type { MetricsReader } from '../rows/metrics-reader.ts'
import type { OpenPositions } from '../rows/open-positions.ts'
import type { RecentSwaps } from '../rows/recent-swaps.ts'
import type { StoragePosition } from '../storage-position.ts'

/** What the documents say of a resource beside its schemas. */
export interface ResourceDocs<Body = unknown> {
  readonly tag:
    | 'Tokens'
    | 'Wallets'
    | 'Trades'
    | 'Login'
    | 'Account'
    | 'Billing'
    | 'Pro'
    | 'Service'
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
  /** Of the request's body. */
  readonly requestExample?: object
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
  /** Default: GET. */
  readonly method?: 'POST'
  /** Credits of an answer; null for what is asked without an API key. */
  readonly price: number | null
  /** Asked with a dashboard token, and about its wallet alone (rule E2). */
  readonly needsSession?: true
  /** Besides, only with an active Pro subscription (rule D3). */
  readonly needsPro?: true
  /** Counted by the budget of logins (rule D6). */
  readonly isLogin?: true
  /** Not counted by the rate limits: what watchers ask (rule D6). */
  readonly isUnlimited?: true
  readonly docs: ResourceDocs
  readonly params: z.ZodObject
  /** Of the query as text; what a key gives twice is a list. Unknown keys are dropped. */
  readonly query: z.ZodObject
  /** Of the JSON object that the request carries; without it a body is not read. Unknown members are dropped. */
  readonly requestBody?: z.ZodObject
  /** Path, query and body together, read by their schemas, as the handler wants them. */
  readonly input: z.ZodType
  /** What a 2xx answer's body is. */
  readonly answer: z.ZodType
  /** Whether many ask for just this, so that its bytes are kept until storage moves on. */
  isHot?(input: Input): boolean
  /** The mint that it is about alone, so that its bytes are kept until there are news of that mint. */
  mintOf?(input: Input): string
  handle(input: Input, request: RequestContext): Promise<Answer>
}

/** What a handler knows of the request beside its input. */
export interface RequestContext {
  /** There when `needsSession` says so. */
  readonly session?: Session | undefined
  /** The client's network (see `networkOf`), of what is asked without an API key. */
  readonly network?: string | undefined
  /** Of a resource with a price: queries wait for the turn of the account that asks. */
  readonly store: Store
}

/** Declares a resource whose handler gets what its schemas give; `read` is for what depends on several parameters. */
export function resource<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  RequestBody extends z.ZodObject = z.ZodObject,
  Input = Parts<Params, Query, RequestBody>,
>(declaration: {
  readonly path: string
  readonly method?: 'POST'
  readonly price: number | null
  readonly isUnlimited?: true
  readonly isLogin?: true
  readonly docs: ResourceDocs<z.input<Body>>
  readonly params: Params
  readonly query: Query
  readonly requestBody?: RequestBody
  readonly answer: Body
  /** Adds issues at paths such as `['query', 'cursor']`. */
  read?(input: Parts<Params, Query, RequestBody>, context: z.RefinementCtx): Input
  isHot?(input: Input): boolean
  mintOf?(input: Input): string
  handle(
    input: Input,
    request: RequestContext,
  ): Promise<Answer & { readonly body: z.input<Body> | JsonText }>
}): Resource<Input> {
  const { params, query, requestBody = NO_BODY, read } = declaration
  // TypeScript does not see through a generic object.
  const parts: z.ZodType<Parts<Params, Query, RequestBody>> = z.object({
    params,
    query,
    body: requestBody,
  }) as never
  return { ...declaration, input: read === undefined ? parts : parts.transform(read) }
}

/** Declares a resource of the dashboard: free, asked with a dashboard token; its handler is told whose. */
export function dashboardResource<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
>(declaration: {
  readonly path: string
  readonly method?: 'POST'
  readonly needsPro?: true
  readonly docs: ResourceDocs<z.input<Body>>
  readonly params: Params
  readonly query: Query
  readonly answer: Body
  handle(
    input: Parts<Params, Query, z.ZodObject>,
    session: Session,
    network: string,
  ): Promise<Answer & { readonly body: z.input<Body> }>
}): Resource<Parts<Params, Query, z.ZodObject>> {
  return {
    ...resource({ ...declaration, price: null, handle: () => Promise.reject(NO_SESSION) }),
    needsSession: true,
    ...(declaration.needsPro && { needsPro: true }),
    handle: async (input, { session, network = 'unknown' }) => {
      if (session === undefined) throw NO_SESSION
      return declaration.handle(input, session, network)
    },
  }
}

const NO_BODY = z.object({})
const NO_SESSION = new Error('authenticateSession comes before the handler')

type Parts<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  RequestBody extends z.ZodObject,
> = {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
  readonly body: z.output<RequestBody>
}

/** What resources read from. */
export interface ResourceDeps {
  readonly store: Store
  readonly position: StoragePosition
  readonly cursors: CursorCodec
  /** How what is served differs from what happened (rule I2); null: it does not. */
  readonly perturb: Perturb | null
  /** Of the log that the feed follows. */
  readonly epoch: number
  readonly readMetrics: MetricsReader
  readonly openPositions: Pick<OpenPositions, 'ready' | 'held' | 'holdings' | 'ofWallet'>
  readonly recentSwaps: Pick<RecentSwaps, 'page'>
}
