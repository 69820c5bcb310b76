import test from 'ava'
import { addressFromBytes } from '../../domain/address.ts'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import { decodeSnapshot } from '../../fold/snapshot.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import { readSnapshotRows } from '../../store/tables/fold-snapshots.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { createFoldMetrics } from '../telemetry.ts'
import { storeRecords } from './store-records.ts'
import { WalletBooks } from './wallet-books.ts'

const WALLETS = [1, 2, 3]

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
  const addresses = WALLETS.map((n) => addressFromBytes(new Uint8Array(32).fill(n)))
  await addTrackedWallets(opened.store, addresses, [], 1)
})
test.after.always(() => opened.remove())

test('once a second the wallets that are 32 records beyond their snapshot are saved', async (t) => {
  const { store } = opened
  let now = 1000
  let slot = 0
  const metrics = createFoldMetrics(createRegistry())
  const books = new WalletBooks({ store, metrics, now: () => now })
  /** Stores `count` balances of each of the wallets. */
  const flush = (count: number, wallets: readonly number[]) =>
    storeRecords(store, books, {
      records: Array.from({ length: count }, () => {
        slot += 1
        return wallets.map((wallet) => balance(wallet, slot))
      })
        .flat()
        .map((record) => ({ record, late: null, decoderVersion: DECODER_VERSION, mark: null })),
      refolds: [],
      prices: [],
      relationOf: () => 'new',
      isReplayed: () => false,
      withdrawn: new Set(),
    })
  const saved = async () => {
    const rows = await readSnapshotRows(store, WALLETS)
    return WALLETS.map((wallet) => {
      const row = rows.get(wallet)
      return row === undefined ? 0 : (decodeSnapshot(row.state)?.balances ?? 0)
    })
  }

  await flush(31, WALLETS)
  t.deepEqual(await saved(), [0, 0, 0], 'none is due')
  await flush(1, [1, 2])
  t.deepEqual(await saved(), [0, 0, 0], 'the second has not passed')
  now = 1999
  await flush(1, [2])
  t.deepEqual(await saved(), [0, 0, 0], 'the second has not passed')
  now = 2000
  await flush(1, [3])
  t.deepEqual(await saved(), [32, 33, 32], 'also those that this flush has no record of')
  await flush(511, [1])
  t.deepEqual(await saved(), [32, 33, 32], 'the next second has not passed')
  await flush(1, [1])
  t.deepEqual(await saved(), [544, 33, 32], 'with 512 records a wallet is saved at once')
})

const balance = (wallet: number, slot: number): WalletRecord => ({
  kind: 'balance',
  slot,
  txIndex: 0,
  wallet,
  blockTime: slot,
  lamports: 5n,
  lamportsBefore: 5n,
})
