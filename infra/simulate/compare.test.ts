import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { addressFromBytes } from '../../pipeline/domain/address.ts'
import type { BalanceRecord, TokenAccountLink, WalletEvent } from '../../pipeline/domain/event.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { addTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { aChain, type RecordChain } from '../../pipeline/testing/a-chain.ts'
import { slowTables } from '../../pipeline/testing/slow-tables.ts'
import { emptyTables, openTestStore, type TestStore } from '../../pipeline/testing/test-store.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { compareWith, countStored, describeDifference } from './compare.ts'

const WALLETS = 3
const addresses = [1, 2, 3].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))
const logger = createLogger('silent')

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

/** Appends the slots and late records of the chain, and waits until a worker has stored them. */
async function play(chain: RecordChain): Promise<void> {
  const { store } = opened
  const deps = { logger, registry: createRegistry() }
  const log = createMemoryLog(deps, { partitions: 2, retryDelayMs: 1 })
  const bugs: unknown[] = []
  const fold = await startFold({ ...deps, store, log, onBug: (bug) => bugs.push(bug) })
  const stored = async (slot: number) => {
    while ((fold.status().slot ?? 0) < slot && bugs.length === 0) await pause(2)
  }
  for (const [at, slot] of chain.slots.entries()) {
    await log.appendSlot(slot)
    for (const { afterSlots, records } of chain.late)
      if (afterSlots === at) await log.appendLate(records, 'stream')
    // Without waiting at every slot, some batches have one slot and some have several.
    if (at % 5 < 3) await stored(slot.marker.slot)
  }
  for (const { afterSlots, records } of chain.late)
    if (afterSlots >= chain.slots.length) await log.appendLate(records, 'stream')
  const last = chain.slots.at(-1)?.marker
  if (last === undefined) return
  const slot = last.slot + 1
  await log.appendSlot({ marker: { ...last, slot, parent: last.slot }, records: [] })
  await stored(slot)
  await fold.stop()
  await log.close()
  if (bugs.length > 0) throw bugs[0]
}

function tablesOf(chain: RecordChain) {
  const records = [...chain.slots, ...chain.late].flatMap((part) => part.records)
  const events: WalletEvent[] = []
  const balances: BalanceRecord[] = []
  const links: TokenAccountLink[] = []
  for (const record of records) {
    if (record.kind === 'balance') balances.push(record)
    else if (record.kind === 'token_link') links.push(record)
    else if ('eventIndex' in record) events.push(record)
  }
  return slowTables({ wallets: WALLETS, events, balances, links })
}

test.serial(
  'what comes in batches, late and again gives every row of the slow reference, to the last column (C1 to C16, K1)',
  async (t) => {
    const { store } = opened
    for (let seed = 1; seed <= 2; seed += 1) {
      await emptyTables(store)
      await addTrackedWallets(store, addresses, [], 1)
      const chain = aChain({ seed, slots: 40, wallets: WALLETS, lateShare: 0.15 })
      const expected = tablesOf(chain)
      for (const time of ['once', 'again']) {
        await play(chain)
        const { differences } = await compareWith((sql) => store.query(sql), expected)
        t.deepEqual(differences.map(describeDifference), [], `seed ${seed}, ${time}`)
      }
    }
  },
)

test.serial('a changed, missing or extra row is reported', async (t) => {
  const { store } = opened
  await store.command(
    `INSERT INTO positions (wallet, mint, buys, version) SELECT wallet, mint, buys + 1, version + 1 FROM positions FINAL ORDER BY wallet, mint LIMIT 1`,
  )
  await store.command(
    `INSERT INTO lots (wallet, mint, slot, tx_index, event_index, version, is_deleted) SELECT wallet, mint, slot, tx_index, event_index, version + 1, 1 FROM lots FINAL ORDER BY wallet, mint, slot LIMIT 1`,
  )
  await store.command(
    `INSERT INTO sol_balances (wallet, slot, tx_index, lamports) VALUES (1, 5, 6, 7)`,
  )
  const chain = aChain({ seed: 2, slots: 40, wallets: WALLETS, lateShare: 0.15 })
  const { differences } = await compareWith((sql) => store.query(sql), tablesOf(chain))
  t.deepEqual(
    differences.map(({ table, expected, stored: found }) => [
      table,
      expected === null ? 'too many' : found === null ? 'missing' : 'changed',
    ]),
    [
      ['sol_balances', 'too many'],
      ['lots', 'missing'],
      ['positions', 'changed'],
    ],
  )
})

test.serial('rows of withdrawn slots do not count as stored', async (t) => {
  const { store } = opened
  const before = await countStored((sql) => store.query(sql))
  for (const table of ['swaps', 'sol_balances', 'token_links'])
    await store.command(
      `INSERT INTO ${table} SELECT * REPLACE (version + 1 AS version, 1 AS is_deleted)
       FROM (SELECT * FROM ${table} FINAL ORDER BY wallet, slot, tx_index LIMIT 1)`,
    )
  const after = await countStored((sql) => store.query(sql))
  t.deepEqual(after, { ...before, records: before.records - 3 })
})
