import { useCallback, useEffect, useState } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { type ApiFailure, callApi } from '../call-api.ts'
import { type PaidQuery, usePaidQuery } from '../data/use-paid-query.ts'

interface SwapsResponse {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly items: readonly SwapItem[]
}

/** How many swaps a page holds at most. */
const MAX_SWAPS = 3000

/** Price of a request for up to 200 swaps, in credits. */
export const SWAPS_PRICE = 3

/** The swaps of a token that are loaded. */
export interface TokenSwaps {
  /** The request for the newest 200 swaps. */
  readonly first: PaidQuery<SwapsResponse>
  /** Newest first. */
  readonly swaps: readonly SwapItem[]
  readonly hasOlder: boolean
  /** Whether all swaps of the token are loaded. */
  readonly isComplete: boolean
  /** Loads the next 200 older swaps. */
  loadOlder(): void
  readonly isLoading: boolean
  /** Why `loadOlder` failed. */
  readonly failure: ApiFailure | null
}

/** Loads the swaps of a token, newest first, in pages of 200. */
export function useTokenSwaps(mint: string): TokenSwaps {
  const path = `/tokens/${encodeURIComponent(mint)}/swaps?limit=200`
  const first = usePaidQuery<SwapsResponse>(path, SWAPS_PRICE)
  const { response } = first
  const [older, setOlder] = useState<SwapsResponse | null>(null)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [isLoading, setIsLoading] = useState(false)
  useEffect(() => {
    setOlder(null)
    setFailure(null)
  }, [response])
  const swaps = response === null ? [] : [...response.body.items, ...(older?.items ?? [])]
  const nextCursor = older === null ? response?.body.next_cursor : older.next_cursor
  const loadOlder = useCallback(async () => {
    if (nextCursor === null || nextCursor === undefined) return
    setIsLoading(true)
    setFailure(null)
    const result = await callApi<SwapsResponse>(
      `${path}&cursor=${encodeURIComponent(nextCursor)}`,
      'key',
    )
    setIsLoading(false)
    if (result.kind === 'ok')
      setOlder((before) => ({
        ...result.body,
        items: [...(before?.items ?? []), ...result.body.items],
      }))
    else setFailure(result)
  }, [path, nextCursor])
  return {
    first,
    swaps,
    hasOlder: typeof nextCursor === 'string' && swaps.length < MAX_SWAPS,
    isComplete: response !== null && nextCursor === null,
    loadOlder,
    isLoading,
    failure,
  }
}
