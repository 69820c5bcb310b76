import type { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import type { CursorCodec } from '../cursor.ts'
import type { StoragePosition } from '../storage-position.ts'

/** One thing the API answers: declared once; the middleware validates, charges and renders by it. */
export interface Resource<Params = never, Query = never> {
  /** As @koa/router reads it, `/wallets/:alias/metrics`. */
  readonly path: string
  /** Credits of an answer; null for what anybody may ask without a key. */
  readonly price: number | null
  /** Not counted by the rate limits: what watchers ask (decisions D6). */
  readonly isUnlimited?: true
  readonly params: z.ZodType
  /** Of the query as text; what a key gives twice is a list. Unknown keys are dropped. */
  readonly query: z.ZodType
  /** What a 2xx answer's body is. */
  readonly answer: z.ZodType
  handle(input: { readonly params: Params; readonly query: Query }): Promise<Answer>
}

export interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Declares a resource whose handler gets what its schemas give. */
export function resource<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
>(declaration: {
  readonly path: string
  readonly price: number | null
  readonly isUnlimited?: true
  readonly params: Params
  readonly query: Query
  readonly answer: Body
  handle(input: {
    readonly params: z.output<Params>
    readonly query: z.output<Query>
  }): Promise<Answer & { readonly body: z.input<Body> }>
}): Resource {
  return declaration
}

/** What resources read from. */
export interface ResourceDeps {
  readonly store: Store
  readonly position: StoragePosition
  readonly cursors: CursorCodec
}
