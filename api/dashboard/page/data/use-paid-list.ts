import { useState } from 'preact/hooks'
import { type ApiFailure, callApi } from '../call-api.ts'
import type { CachedResponse } from './response-cache.ts'
import { type PaidQuery, usePaidQuery } from './use-paid-query.ts'

/** A page of a list that a cursor continues. */
export interface ListPage<Item> {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly items: readonly Item[]
}

/** How many items a list holds at most. */
const MAX_ITEMS = 3000

/** A list that costs credits a page. */
export interface PaidList<Item> {
  /** The request for the first page. */
  readonly first: PaidQuery<ListPage<Item>>
  /** The loaded items, in the order of the service. */
  readonly items: readonly Item[]
  readonly hasMore: boolean
  /** Whether all items are loaded. */
  readonly isComplete: boolean
  /** Loads the next page. */
  loadMore(): void
  readonly isLoading: boolean
  /** Why `loadMore` failed. */
  readonly failure: ApiFailure | null
}

/** The pages after the first one. */
interface MorePages<Item> {
  /** The first page that they continue. */
  readonly after: CachedResponse<ListPage<Item>> | null
  readonly items: readonly Item[]
  readonly nextCursor: string | null
  readonly isLoading: boolean
  readonly failure: ApiFailure | null
}

/** Loads a list by pages. `path` has a query string; `price` is that of a page in credits. */
export function usePaidList<Item>(path: string, price: number): PaidList<Item> {
  const first = usePaidQuery<ListPage<Item>>(path, price)
  const { response } = first
  const [stored, setMore] = useState<MorePages<Item> | null>(null)
  // Pages that continue another list, or an older state of this one, are dropped.
  const more: MorePages<Item> =
    stored !== null && stored.after === response
      ? stored
      : {
          after: response,
          items: [],
          nextCursor: response?.body.next_cursor ?? null,
          isLoading: false,
          failure: null,
        }
  const { nextCursor, isLoading } = more
  const loadMore = async () => {
    if (nextCursor === null || isLoading) return
    setMore({ ...more, isLoading: true, failure: null })
    const result = await callApi<ListPage<Item>>(
      `${path}&cursor=${encodeURIComponent(nextCursor)}`,
      'key',
    )
    const after: MorePages<Item> =
      result.kind === 'ok'
        ? {
            ...more,
            items: [...more.items, ...result.body.items],
            nextCursor: result.body.next_cursor,
          }
        : { ...more, failure: result }
    setMore((now) => (now?.after === more.after ? after : now))
  }
  const items = response === null ? [] : [...response.body.items, ...more.items]
  return {
    first,
    items,
    hasMore: nextCursor !== null && items.length < MAX_ITEMS,
    isComplete: response !== null && nextCursor === null,
    loadMore,
    isLoading,
    failure: more.failure,
  }
}
