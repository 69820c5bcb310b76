import test from 'ava'
import { address } from '../../pipeline/domain/address.ts'
import type { Swap, TokenTransfer } from '../../pipeline/domain/event.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { FOLD_MODES } from '../../pipeline/fold/fold-event.ts'
import { insertDecodedRows } from '../../pipeline/store/tables/decoded-rows.ts'
import { insertPoolStates } from '../../pipeline/store/tables/pool-states.ts'
import { slowEvent, slowValue } from '../../pipeline/testing/slow-events.ts'
import { type SlowPriceInputs, slowTokenPrice } from '../../pipeline/testing/slow-prices.ts'
import { slowEventsOf, slowPoints } from '../../pipeline/testing/slow-profit.ts'
import { decodedRow } from '../../pipeline/workers/fold/event-rows.ts'
import { aSwap } from '../testing/a-swap.ts'
import { openStore } from '../testing/open-stores.ts'
import { KeptHistories } from './kept-histories.ts'
import { readProfitPoints } from './profit-points.ts'

/** Wallets that are compared; `.ci/long` takes 200. */
const WALLETS = Number(process.env.PNL_WALLETS ?? 10)
const WEEK = 7 * 86_400
const START = 1_700_000_000 - (1_700_000_000 % 86_400)
const MINTS = Array.from({ length: 40 }, (_, at) =>
  address(`So1111111111111111111111111111111111111${1111 + at}`.slice(0, 43).replace(/0/g, '2')),
)

/** A generator of integers below a bound, the same in every run. */
function createNumbers(seed: number) {
  let state = seed
  return (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % bound
  }
}

type Event = Swap | TokenTransfer

/** A week of swaps and transfers of the wallets, some 40 of each, in event-key order. */
function aWeek(): Event[] {
  const below = createNumbers(7)
  return Array.from({ length: WALLETS * 40 }, (_, at): Event => {
    const wallet = 1 + below(WALLETS)
    const slot = 1000 + at
    const blockTime = START + Math.floor((WEEK * at) / (WALLETS * 40))
    const mint = MINTS[below(MINTS.length)] ?? WSOL
    const amount = BigInt(1 + below(1_000_000))
    const kind = below(10)
    const key = { slot, txIndex: 0, wallet, eventIndex: 0, blockTime }
    if (kind < 2) {
      const direction = kind === 0 ? 'in' : 'out'
      const rest = { mint, amount, decimals: 6, signature: '5'.repeat(88) }
      return { kind: 'token_transfer', direction, ...key, ...rest }
    }
    return aSwap({
      ...key,
      side: kind < 7 ? 'buy' : 'sell',
      baseMint: mint,
      baseAmount: amount,
      quoteAmount: BigInt(1 + below(1_000_000_000)),
      quoteMismatch: below(20) === 0,
      confidence: below(5) === 0 ? 'delta_only' : 'high',
    })
  })
}

test('hourly profit over a week equals that of the slow reference, for every wallet and mode', async (t) => {
  const { store, remove } = await openStore()
  t.teardown(remove)
  const events = aWeek()
  for (const kind of ['swap', 'token_transfer'] as const) {
    const some = events.filter((event) => event.kind === kind)
    const rows = some.map((event) => decodedRow(event, null)[1])
    await insertDecodedRows(store, kind === 'swap' ? 'swaps' : 'transfers', rows)
  }
  const below = createNumbers(9)
  const pools = MINTS.slice(0, 10).flatMap((mint) =>
    [0, 1, 2, 3].map((day) => ({
      at: START + day * 100_000 - ((day * 100_000) % 10),
      mint,
      pool: day === 2 ? '' : 'pool',
      quoteMint: WSOL,
      price: { quote: BigInt(1 + below(1_000_000)), base: BigInt(1 + below(1000)) },
    })),
  )
  await insertPoolStates(
    store,
    pools.map((pool) => ({ ...pool, quoteReserve: 1n, slot: 1 })),
  )
  const swaps = events.flatMap((event) =>
    event.kind === 'swap'
      ? [{ ...event, mint: event.baseMint, amount: event.baseAmount, value: slowValue(event) }]
      : [],
  )
  const inputsOf = new Map<string, SlowPriceInputs>(
    MINTS.map((mint) => [
      mint,
      {
        swaps: swaps.filter((swap) => swap.mint === mint),
        pools: pools.filter((pool) => pool.mint === mint),
        solPrices: [],
        solPriceMaxAgeSeconds: 3600,
      },
    ]),
  )
  const histories = new KeptHistories(() => store)
  const times = Array.from({ length: 7 * 24 }, (_, hour) => START + (hour + 1) * 3600)
  let compared = 0
  for (let wallet = 1; wallet <= WALLETS; wallet += 1)
    for (const mode of FOLD_MODES) {
      const own = events.filter((event) => event.wallet === wallet).map(slowEvent)
      const priceAt = (mint: string, time: number) => {
        const inputs = inputsOf.get(mint)
        return inputs ? slowTokenPrice(inputs, mint, wallet, time) : null
      }
      const found = await readProfitPoints(store, {
        wallet,
        mode,
        perturb: null,
        histories,
        times,
        interval: 3600,
        prices: { stored: 1_000_000, wasRedecoded: false, solPriceMaxAgeSeconds: 3600 },
      })
      t.deepEqual(found, slowPoints(slowEventsOf(own, mode), times, 3600, priceAt))
      compared += found.length
    }
  t.log(`${compared} points of ${WALLETS} wallets`)
})
