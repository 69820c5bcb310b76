import test from 'ava'
import { SLOTS_PER_PARTITION } from '../../../pipeline/store/slot-partitions.ts'
import {
  addTrackedWallets,
  readTrackedWallets,
} from '../../../pipeline/store/tables/tracked-wallets.ts'
import { withStore } from '../kit/folder.ts'
import { strangerOf } from '../kit/stranger.ts'
import { copyFilled } from './filled.ts'

test('a copy of filled tables has their rows, and what it stores besides is not in them', (t) =>
  withStore(async (store) => {
    const filled = [1, 2].map(strangerOf)
    await addTrackedWallets(store, filled, [], 0)
    await store.command('CREATE DATABASE filled')
    await store.command(
      `INSERT INTO late_swaps (slot, passed_slot) SELECT number, number * ${SLOTS_PER_PARTITION} FROM numbers(3)`,
    )
    for (const table of ['tracked_wallets', 'wallet_metrics', 'late_swaps', 'schema_migrations']) {
      await store.command(`CREATE TABLE filled.${table} AS ${table}`)
      await store.command(`ALTER TABLE filled.${table} ATTACH PARTITION ALL FROM ${table}`)
    }
    await store.command('TRUNCATE TABLE tracked_wallets')
    await store.command('TRUNCATE TABLE wallet_metrics')
    await store.command('TRUNCATE TABLE late_swaps')
    const rowsIn = async (database: string) => {
      const [row] = await store.query<Record<string, number>>(
        `SELECT (SELECT toUInt32(count()) FROM ${database}.tracked_wallets) AS wallets,
           (SELECT toUInt32(count()) FROM ${database}.wallet_metrics) AS metrics,
           (SELECT toUInt32(count()) FROM ${database}.late_swaps) AS late,
           (SELECT toUInt32(count() - uniqExact(name, checksum)) FROM ${database}.schema_migrations) AS repeated`,
      )
      return row
    }

    await copyFilled(store, 'filled')
    t.deepEqual(await readTrackedWallets(store), filled)
    await addTrackedWallets(store, [...filled, strangerOf(3)], filled, 0)
    t.deepEqual(await rowsIn('tracked_wallets'), { wallets: 3, metrics: 3, late: 3, repeated: 0 })
    t.deepEqual(await rowsIn('filled'), { wallets: 2, metrics: 2, late: 3, repeated: 0 })
  }))
