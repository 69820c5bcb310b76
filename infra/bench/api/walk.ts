import { numberOf } from './seed.ts'

/** Result of reading all pages of `/trades` while swaps are inserted. */
export interface WalkResult {
  readonly pages: number
  readonly seconds: number
  /** Number of swaps stored between reading the first page and the last, at any position. */
  readonly inserted: number
  readonly walked: number
  /** Number of swaps stored before the first page was requested that no page contains. */
  readonly skipped: number
  /** Number of swaps that two pages contain. */
  readonly repeated: number
}

interface Page {
  readonly items: readonly { readonly token_amount: string }[]
  readonly next_cursor: string | null
}

/** Walks `GET /trades` to its end while swaps are stored; `ask` returns the body of a response. */
export async function walkTrades(ask: (path: string) => Promise<string>): Promise<WalkResult> {
  const started = performance.now()
  const newest = async () => {
    const { items } = JSON.parse(await ask('/trades?limit=100')) as Page
    return Math.max(...items.map((item) => numberOf(item.token_amount)))
  }
  const before = await newest()
  const met = new Set<number>()
  let [pages, walked] = [0, 0]
  for (let path = '/trades?limit=100'; path !== ''; pages++) {
    const { items, next_cursor } = JSON.parse(await ask(path)) as Page
    for (const { token_amount } of items) met.add(numberOf(token_amount))
    walked += items.length
    path = next_cursor === null ? '' : `/trades?limit=100&cursor=${next_cursor}`
  }
  let skipped = 0
  for (let number = 0; number <= before; number++) if (!met.has(number)) skipped++
  return {
    pages,
    walked,
    skipped,
    repeated: walked - met.size,
    inserted: (await newest()) - before,
    seconds: (performance.now() - started) / 1000,
  }
}
