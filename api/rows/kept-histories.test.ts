import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { insertDecodedRows } from '../../pipeline/store/tables/decoded-rows.ts'
import type { StoredEvent } from '../../pipeline/store/tables/event-rows.ts'
import { decodedRow } from '../../pipeline/workers/fold/event-rows.ts'
import { aSwap } from '../testing/a-swap.ts'
import { openStore } from '../testing/open-stores.ts'
import { KeptHistories } from './kept-histories.ts'

const WALLETS = 100
/** More events than a query returns. */
const BUSY = 50
const BUSY_EVENTS = 6000
const END = 20_000

/** How many events a wallet has. */
const countOf = (wallet: number) => (wallet === BUSY ? BUSY_EVENTS : wallet % 7)

const swaps = Array.from({ length: WALLETS }, (_, at) => at + 1).flatMap((wallet) =>
  Array.from({ length: countOf(wallet) }, (_, event) =>
    aSwap({ wallet, slot: 1000 + 3 * event, txIndex: wallet, baseAmount: BigInt(wallet + event) }),
  ),
)

test('histories that are wanted while others are read come together, each whole and in order', async (t) => {
  const { store, remove } = await openStore()
  t.teardown(remove)
  const rows = swaps.map((swap) => decodedRow(swap, null)[1])
  await insertDecodedRows(store, 'swaps', rows)
  let queries = 0
  const counted: typeof store = {
    ...store,
    query: (...asked) => {
      queries += 1
      return store.query(...asked)
    },
  }
  const histories = new KeptHistories(() => counted)
  const read = async (wallet: number, to: number, of = histories) => {
    const pages: (readonly StoredEvent[])[] = []
    for await (const page of of.read(counted, wallet, to)) pages.push(page)
    return textOf(wallet, to, pages.flat())
  }
  const expected = (wallet: number, to: number) => {
    const found = swaps.filter((swap) => swap.wallet === wallet && swap.slot <= to)
    return textOf(
      wallet,
      to,
      found.map(({ slot, baseAmount: amount }) => ({ slot, amount })),
    )
  }
  const wanted: [wallet: number, to: number][] = []
  const reads: ReturnType<typeof read>[] = []
  const want = (wallet: number, to: number) => {
    wanted.push([wallet, to])
    reads.push(read(wallet, to))
  }
  // A query each.
  for (const wallet of [1, 2]) {
    want(wallet, END)
    await nextTurn()
  }
  for (let wallet = WALLETS; wallet > 2; wallet -= 1) want(wallet, END)
  for (const to of [1003, 1006, END]) want(BUSY, to)
  t.deepEqual(
    await Promise.all(reads),
    wanted.map(([wallet, to]) => expected(wallet, to)),
  )
  t.true(queries <= 12, `${queries} queries for ${wanted.length} histories`)
  const before = queries
  t.deepEqual(await read(6, END), expected(6, END))
  t.is(queries - before, 1, 'what is kept is read on from its last event')

  const others = new KeptHistories(() => counted)
  const pages = others.read(counted, BUSY, END)
  const first = await pages.next()
  // One wants the second page of the wallet, one the first.
  const [second, whole] = await Promise.all([pages.next(), read(BUSY, END, others)])
  t.is(textOf(BUSY, END, [first.value, second.value].flat()), expected(BUSY, END))
  t.is(whole, expected(BUSY, END))
})

test('a query that fails fails those that wait for it, and later ones go on', async (t) => {
  let isAway = true
  const store = {
    query: async () => {
      if (isAway) throw new Error('away')
      return []
    },
  } as unknown as Parameters<KeptHistories['read']>[0]
  const histories = new KeptHistories(() => store)
  const read = async (wallet: number) => {
    const events: StoredEvent[] = []
    for await (const page of histories.read(store, wallet, END)) events.push(...page)
    return events
  }
  const results = await Promise.allSettled([1, 2, 3].map(read))
  t.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  isAway = false
  for (let round = 0; round < 3; round += 1) t.deepEqual(await read(1), [])
})

/** A text, because a difference of long lists takes minutes to be printed. */
function textOf(
  wallet: number,
  to: number,
  events: readonly { readonly slot: number; readonly amount: bigint }[],
): string {
  return `${wallet} to ${to}: ${events.map(({ slot, amount }) => `${slot} ${amount}`).join()}`
}
