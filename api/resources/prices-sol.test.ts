import test from 'ava'
import { insertSolPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore } from '../testing/open-stores.ts'
import { startApi } from '../testing/start-api.ts'

/*
 * Whole responses of `GET /prices/sol` (rule L11).
 */

const T = 1_700_000_000

test('the price of SOL is the newest one at or before a time, the file before the pool, and not too old', async (t) => {
  const { store, remove } = await openStore()
  const api = await startApi(store, { config: { solPriceMaxAgeSeconds: 600 } })
  const { key } = await api.customer(100)
  const price = async (query: string) => (await ask(api, `/prices/sol${query}`, key)).body
  const none = { price_usd: null, time: null, age_seconds: null, source: null }
  t.deepEqual(await price(''), { at: null, ...none })
  await insertSolPrices(store, 'pool', [
    { time: T + 10, usdE9: 150_123_456_789n },
    { time: T + 20, usdE9: 151_000_000_000n },
    { time: T + 30, usdE9: 0n }, // withdrawn
    { time: T + 2000, usdE9: 999_000_000_000n }, // after the newest stored slot
  ])
  await insertSolPrices(store, 'file', [{ time: T + 20, usdE9: 140_500_000_000n }])
  await api.writer.moveTo(1000)
  const of = (at: number, price_usd: number, time: number, source: string) => ({
    at,
    price_usd,
    time,
    age_seconds: at - time,
    source,
  })
  t.deepEqual(
    {
      now: await price(''),
      later: await price(`?at=${T + 5000}`),
      exact: await price(`?at=${T + 10}`),
      before: await price(`?at=${T + 9}`),
      file: await price(`?at=${T + 620}`),
      tooOld: await price(`?at=${T + 621}`),
    },
    {
      now: { at: T + 1000, ...none },
      later: { at: T + 1000, ...none },
      exact: of(T + 10, 150.123456789, T + 10, 'pool'),
      before: { at: T + 9, ...none },
      file: of(T + 620, 140.5, T + 20, 'file'),
      tooOld: { at: T + 621, ...none },
    },
  )
  t.deepEqual(creditsOf(await ask(api, '/prices/sol', key)), ['1', '92'])
  await api.close()
  await remove()
})
