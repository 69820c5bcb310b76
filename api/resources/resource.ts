import { z } from 'zod'
import type { Perturb } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { WalletMetricsRow } from '../../pipeline/store/tables/wallet-metrics.ts'
import type { Answer } from '../answer.ts'
import type { Session } from '../auth/session.ts'
import type { CursorCodec } from '../cursor.ts'
import type { ProblemCode } from '../errors.ts'
import type { HeldRows } from '../items/wallet-holdings-text.ts'
import type { JsonText } from '../rendered-answer.ts'
import type { KeptHistories } from '../rows/kept-histories.ts'
import type { KnownFacts } from '../rows/known-facts.ts'
import type { Leaderboard } from '../rows/leaderboard.ts'
import type { OpenPositions } from '../rows/open-positions.ts'
import type { RecentSwaps } from '../rows/recent-swaps.ts'
import type { StoragePosition } from '../storage-position.ts'

/** Documentation of a resource, in addition to its schemas. */
export interface ResourceDocs<Body = unknown> {
  readonly tag:
    | 'Tokens'
    | 'Wallets'
    | 'Trades'
    | 'Prices'
    | 'Search'
    | 'Login'
    | 'Account'
    | 'Billing'
    | 'Pro'
    | 'Service'
  readonly summary: string
  /** Markdown. */
  readonly description: string
  /** Problem codes in addition to those of every resource of its kind. */
  readonly problems?: readonly ProblemCode[]
  /** Additional response header fields: name to description. */
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses of its responses; default: only 200. */
  readonly statuses?: readonly number[]
  readonly example: Body
  /** Example of the request body. */
  readonly requestExample?: object
  /** OpenAPI links by name. */
  readonly links?: Readonly<Record<string, Link>>
}

/** A next request with values of a response (OpenAPI Link Object). */
export interface Link {
  readonly operationId: string
  readonly description: string
  /** Parameter to runtime expression, for example `$response.body#/next_cursor`. */
  readonly parameters: Readonly<Record<string, string>>
}

/** A resource of the API. Middleware and documents are derived from this declaration. */
export interface Resource<Input = never> {
  /** Path in the syntax of @koa/router, for example `/wallets/:alias/metrics`. */
  readonly path: string
  /** Default: GET. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  /**
   * Credits of a response; null if no API key is needed. With 0 the response is about the account
   * of the key, so it is neither cached nor charged.
   */
  readonly price: number | null
  /** Needs a dashboard token, and answers about its wallet only (rule E2). */
  readonly needsSession?: true
  /** Also needs active Pro (rule D3). */
  readonly needsPro?: true
  /** Counted by the login limits (rule D6). */
  readonly isLogin?: true
  /** Exempt from rate limits, for monitoring (rule D6). */
  readonly isUnlimited?: true
  /** Answers HEAD like GET, without a body, for monitoring (rule D2). */
  readonly answersHead?: true
  readonly docs: ResourceDocs
  readonly params: z.ZodObject
  /** Schema of the query: text values, a list if repeated. Unknown parameters are dropped. */
  readonly query: z.ZodObject
  /** Schema of the JSON body; without it no body is read. Unknown members are dropped. */
  readonly requestBody?: z.ZodObject
  /** Schema of path, query and body together; its output is the input of `handle`. */
  readonly input: z.ZodType
  /** Schema of the body of a 2xx response. */
  readonly answer: z.ZodType
  /** Whether the response is cached until the storage marker moves. */
  isHot?(input: Input): boolean
  /** Returns the only mint of the response, which is then cached until that mint changes. */
  mintOf?(input: Input): string
  handle(input: Input, request: RequestContext): Promise<Answer>
}

/** Context of a request, in addition to its input. */
export interface RequestContext {
  /** The account of the API key; set if the resource has a price. */
  readonly account?: string | undefined
  /** The session; set if the resource has `needsSession`. */
  readonly session?: Session | undefined
  /** The client's network (`networkOf`); set for login and dashboard resources. */
  readonly network?: string | undefined
  /** The store. For a resource with a price, its queries wait in the account's fair queue. */
  readonly store: Store
}

/**
 * Declares a resource. Its handler gets the output of the schemas; `read` parses values that depend
 * on several parameters.
 */
export function resource<
  Body extends z.ZodType,
  Params extends z.ZodObject = typeof NONE,
  Query extends z.ZodObject = typeof NONE,
  RequestBody extends z.ZodObject = z.ZodObject,
  Input = Parts<Params, Query, RequestBody>,
>(declaration: {
  readonly path: string
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  readonly price: number | null
  readonly isUnlimited?: true
  readonly answersHead?: true
  readonly isLogin?: true
  readonly docs: ResourceDocs<z.input<Body>>
  /** Path parameters; none by default, like those of the query and the body. */
  readonly params?: Params
  readonly query?: Query
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
  const { params = NONE, query = NONE, requestBody = NONE, read } = declaration
  // TypeScript cannot infer this for a generic object.
  const parts: z.ZodType<Parts<Params, Query, RequestBody>> = z.object({
    params,
    query,
    body: requestBody,
  }) as never
  const input = read === undefined ? parts : parts.transform(read)
  return { ...declaration, params, query, input }
}

/** Declares a free resource that needs a dashboard token. Its handler gets the session. */
export function dashboardResource<
  Body extends z.ZodType,
  Query extends z.ZodObject = typeof NONE,
  Params extends z.ZodObject = typeof NONE,
  RequestBody extends z.ZodObject = z.ZodObject,
>(declaration: {
  readonly path: string
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  readonly needsPro?: true
  readonly docs: ResourceDocs<z.input<Body>>
  readonly params?: Params
  readonly query?: Query
  readonly requestBody?: RequestBody
  readonly answer: Body
  handle(
    input: Parts<Params, Query, RequestBody>,
    session: Session,
    network: string,
  ): Promise<Answer & { readonly body: z.input<Body> }>
}): Resource<Parts<Params, Query, RequestBody>> {
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

const NONE = z.object({})
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

/** Dependencies of resources that read stored data. */
export interface ResourceDeps {
  readonly store: Store
  readonly position: StoragePosition
  readonly cursors: CursorCodec
  /** The privacy filter (rule I2); null serves swaps unchanged. */
  readonly perturb: Perturb | null
  /** Epoch of the log that the feed follows. */
  readonly epoch: number
  /** Metrics of a wallet; undefined for one without a row. */
  readonly metricsOf: (wallet: number) => WalletMetricsRow | undefined
  readonly openPositions: Pick<
    OpenPositions,
    'held' | 'holdings' | 'mostHeld' | 'holdersOf' | keyof HeldRows
  >
  readonly recentSwaps: Pick<RecentSwaps, 'page'>
  readonly leaderboard: Pick<Leaderboard, 'page'>
  readonly knownFacts: Pick<KnownFacts, 'of'>
  readonly histories: Pick<KeptHistories, 'read'>
}
