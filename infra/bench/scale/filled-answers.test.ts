import test from 'ava'
import { markStored } from '../../../api/testing/rows.ts'
import { startApi } from '../../../api/testing/start-api.ts'
import { MARKED_PARTITIONS } from '../../../api/testing/state-writer.ts'
import { MAX_AGE_SECONDS } from '../../simulate/compare.ts'
import { compareSample } from '../../simulate/compare-sample.ts'
import { blockTimeOf } from '../../simulator/market/slot-time.ts'
import { Customer } from '../../whole-service/customer.ts'
import { withStore } from '../kit/folder.ts'
import { strangerOf } from '../kit/stranger.ts'
import { fill } from './fill.ts'

const WALLETS = 30
const END = 405_000_000

test('every answer over filled tables is that of the slow reference, and one that is not is found', (t) =>
  withStore(async (store) => {
    const addresses = Array.from({ length: WALLETS }, (_, at) => strangerOf(at))
    await fill(store, { swaps: 900, positions: 120, addresses, endSlot: END, most: 7 })
    const now = blockTimeOf(END)
    await markStored(store, END, MARKED_PARTITIONS, now)
    const compared = async () => {
      const api = await startApi(store)
      const { key } = await api.customer(1_000_000)
      const customer = new Customer(api.url, key)
      const size = { wallets: WALLETS, size: 20, seed: 1 }
      const sample = { store, customer, ...size, now, solPriceMaxAgeSeconds: MAX_AGE_SECONDS }
      const result = await compareSample(sample)
      await api.close()
      return result
    }
    const { answers, differences } = await compared()
    t.deepEqual(differences, [])
    // 18 about each of 20 wallets, 4 about a token, and 10 lists.
    t.is(answers, 374)

    // It is among the compared wallets.
    await store.command(
      `INSERT INTO wallet_metrics SELECT * REPLACE (buys + 1 AS buys, version + 1 AS version)
       FROM wallet_metrics FINAL WHERE wallet = 10`,
    )
    const paths = (await compared()).differences.map(({ expected }) => String(expected?.path))
    t.deepEqual(paths, [
      '/wallets/W10/metrics',
      '/wallets?page=1',
      '/wallets?sort=pnl&mode=strict&period=7d&order=asc',
      '/wallets?sort=winrate&mode=strict',
      '/wallets?sort=trades&period=30d&min_trades=5',
    ])
  }))
