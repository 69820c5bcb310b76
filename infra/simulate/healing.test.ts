import test from 'ava'
import { SNAPSHOT_TX_INDEX } from '../../pipeline/store/tables/balance-snapshots.ts'
import { describeHealing, type HealingDeps, measureHealing } from './healing.ts'
import { MarketTimes } from './market-times.ts'

const record = (wallet: number, slot = 15) => ({ wallet, slot, txIndex: 1 })

/** A closed break from slot 10 to the link at a slot. */
const aBreak = (wallet: number, account: string, slot: number, closedMs: number, txIndex = 0) => ({
  wallet,
  account,
  from_slot: '10',
  from_tx_index: 0,
  slot: String(slot),
  tx_index: txIndex,
  version: String(closedMs),
})

test('a record is measured from the next transaction to the end of its breaks', async (t) => {
  const times = new MarketTimes()
  for (let slot = 1; slot <= 60; slot += 1) times.note(slot, slot * 100) // four times as fast
  const healed = await measureHealing({
    times,
    query: async () => [
      aBreak(1, '', 35, 5000),
      aBreak(1, 'account', 40, 5500),
      aBreak(1, 'account of another transaction', 40, 5900),
      aBreak(2, '', 20, 3100),
      aBreak(3, '', 50, 5600, SNAPSHOT_TX_INDEX),
      aBreak(4, '', 14, 5000),
    ],
    chain: {
      balances: [record(1), record(2), record(3), record(4), record(1, 16)],
      links: [{ ...record(1), account: 'account' }],
    },
    simulator: {
      forkAt: () => null,
      omitted: (slot: number) => new Map(slot === 15 ? [[1, 'omittedSingly']] : []),
    },
    cuts: [3000],
  } as unknown as HealingDeps) // it needs no more of its parts
  const kind = 'omittedSingly'
  t.deepEqual(healed, [
    { kind, by: 'repair', seconds: 2, marketSeconds: 8 },
    { kind, by: 'comparison', seconds: 1.1, marketSeconds: 4.4 },
    { kind, by: 'reconcile', seconds: 0.6, marketSeconds: 2.4 },
    { kind, by: 'comparison', seconds: 0, marketSeconds: 0 },
    { kind, by: 'repair', seconds: 2, marketSeconds: 8 },
  ])
  t.deepEqual(describeHealing(healed), [
    "healed omittedSingly: 5 records, by repair 2 (from the account's next transaction: p50 2.0 s, p99 2.0 s; of the market p50 8.0 s, p99 8.0 s), by reconcile 1, by a comparison after a cut 2",
    'healed omittedTwins: 0 records, by repair 0, by reconcile 0, by a comparison after a cut 0',
    'healed omittedWallets: 0 records, by repair 0, by reconcile 0, by a comparison after a cut 0',
  ])
})
