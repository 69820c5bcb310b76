import { useCallback, useEffect, useState } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import { ask, type Unanswered } from '../ask.ts'
import { type Paid, usePaid } from '../data/paid.tsx'

interface SwapsAnswer {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly items: readonly SwapItem[]
}

/** How many are looked at at once. */
const MOST = 3000

/** What a page of swaps costs, in credits. */
export const SWAPS_PRICE = 3

/** Swaps of a token as far as they are loaded. */
export interface Swaps {
  readonly first: Paid<SwapsAnswer>
  /** Newest first. */
  readonly swaps: readonly SwapItem[]
  readonly hasOlder: boolean
  /** All that there are. */
  readonly isWhole: boolean
  older(): void
  readonly isLoading: boolean
  /** Why `older` gave none. */
  readonly failure: Unanswered | null
}

/** Swaps of a token, newest first, a page of 200 at a time: the first is asked for like everything that is paid, older ones by `older`. */
export function useSwaps(mint: string): Swaps {
  const first = usePaid<SwapsAnswer>(
    `/tokens/${encodeURIComponent(mint)}/swaps?limit=200`,
    SWAPS_PRICE,
  )
  const { answer } = first
  const [more, setMore] = useState<SwapsAnswer | null>(null)
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const [isLoading, setIsLoading] = useState(false)
  useEffect(() => {
    setMore(null)
    setFailure(null)
  }, [answer])
  const swaps = answer === null ? [] : [...answer.body.items, ...(more?.items ?? [])]
  const next = more === null ? answer?.body.next_cursor : more.next_cursor
  const older = useCallback(async () => {
    if (next === null || next === undefined) return
    setIsLoading(true)
    setFailure(null)
    const cursor = encodeURIComponent(next)
    const answered = await ask<SwapsAnswer>(
      `/tokens/${encodeURIComponent(mint)}/swaps?limit=200&cursor=${cursor}`,
      'key',
    )
    setIsLoading(false)
    if (answered.kind === 'answer')
      setMore((before) => ({
        ...answered.body,
        items: [...(before?.items ?? []), ...answered.body.items],
      }))
    else setFailure(answered)
  }, [mint, next])
  return {
    first,
    swaps,
    hasOlder: typeof next === 'string' && swaps.length < MOST,
    isWhole: answer !== null && next === null,
    older,
    isLoading,
    failure,
  }
}
