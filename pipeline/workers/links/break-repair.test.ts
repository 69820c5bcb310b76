import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { REGISTRY } from '../../decode/registry.ts'
import { address, addressFromBytes } from '../../domain/address.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import { createIngestMetrics } from '../../ingest/telemetry.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import { breakWriter, type ChainBreak, readBreaks } from '../../store/tables/chain-breaks.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { BreakRepair } from './break-repair.ts'
import { listStretch } from './list-stretch.ts'
import { startBreakRepairs } from './repair-breaks.ts'
import { CallBudget } from './rpc-budget.ts'

/*
 * Repairs in which RPC has nothing, and what they cost.
 */

const WALLET = address('vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg')
const ACCOUNT = addressFromBytes(new Uint8Array(32).fill(7))
const MINT = addressFromBytes(new Uint8Array(32).fill(8))
const NOW = 1_800_000_000
const logger = createLogger('silent')

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

const aBreak = (fields: Partial<ChainBreak>): ChainBreak => ({
  wallet: 1,
  account: '',
  mint: '',
  slot: 900,
  txIndex: 3,
  blockTime: NOW - 60,
  from: { slot: 700, txIndex: 1 },
  fromTime: NOW - 100,
  expected: 5_000_000n,
  found: 7_000_000n,
  state: 'open',
  cause: '',
  tries: 0,
  openedAt: NOW - 10,
  changedAt: NOW - 10,
  ...fields,
})

/** An RPC server without any transaction, and the addresses that were requested. */
function emptyRpc() {
  const requests: string[] = []
  const refuse = () => Promise.reject(new Error('not expected'))
  const rpc: HistoryRpc = {
    getSignaturesForAddress: async (of) => {
      requests.push(of)
      return []
    },
    getTransaction: refuse,
    getBlockSignatures: refuse,
    getBlockTime: refuse,
    getFirstAvailableBlock: refuse,
    getTokenAccountsByOwner: refuse,
  }
  return { rpc, requests }
}

/** A repair over an RPC server, and its log. */
function repairOver(rpc: HistoryRpc) {
  const { store } = opened
  const registry = createRegistry()
  const metrics = createIngestMetrics(registry)
  const log = createMemoryLog({ logger, registry })
  const repair = new BreakRepair({
    store,
    log,
    rpc,
    logger,
    metrics,
    refusals: createRefusals(0, { logger, metrics }),
    indexes: { of: async () => null },
    programs: REGISTRY,
    decimals: { of: () => 6, load: async () => {} },
    priceMaxAgeSeconds: 3600,
    newest: () => null,
    feedSeconds: 86_400,
    now: () => NOW * 1000,
  })
  return { repair, log }
}

/** Repairs until the break is open no more; returns how it ended, and the requested addresses. */
async function repaired(found: ChainBreak) {
  const { store } = opened
  const { rpc, requests } = emptyRpc()
  const { repair, log } = repairOver(rpc)
  await breakWriter(store)([found])
  let now = found
  while (now.state === 'open') {
    await repair.repair(now, WALLET, new AbortController().signal)
    const stored = await readBreaks(store, ['open', 'unexplained', 'accepted'], {
      wallet: found.wallet,
    })
    now = stored[0]!
  }
  await log.close()
  const { state, cause, tries, changedAt } = now
  return { state, cause, tries, changedAt, requests }
}

test.serial(
  'a break of which RPC has nothing is unexplained after three tries, or accepted (K8)',
  async (t) => {
    const end = { tries: 3, changedAt: NOW }
    const requests = [WALLET, WALLET, WALLET]
    t.deepEqual(await repaired(aBreak({})), { ...end, state: 'unexplained', cause: '', requests })
    const rent = { wallet: 2, expected: 500_000n, found: 499_000n }
    t.deepEqual(await repaired(aBreak(rent)), {
      ...end,
      state: 'accepted',
      cause: 'rent',
      requests,
    })
  },
)

test.serial('a break that was closed while RPC was asked stays closed (rule K8)', async (t) => {
  const { store } = opened
  for (const tries of [0, 2]) {
    await store.command('TRUNCATE TABLE chain_breaks')
    const found = aBreak({ tries })
    const closed = { ...found, state: 'closed' as const, changedAt: NOW - 1 }
    await breakWriter(store)([found])
    const { rpc } = emptyRpc()
    const { repair, log } = repairOver({
      ...rpc,
      async getSignaturesForAddress() {
        await breakWriter(store)([closed])
        return []
      },
    })
    await repair.repair(found, WALLET, new AbortController().signal)
    await log.close()
    t.deepEqual(await readBreaks(store, ['open', 'unexplained', 'accepted', 'closed']), [closed])
  }
})

/** Starts repairs of final slots up to 900; RPC does not answer. */
function startRepairs(t: ExecutionContext) {
  const registry = createRegistry()
  const log = createMemoryLog({ logger, registry })
  const repairs = startBreakRepairs({
    store: opened.store,
    log,
    programs: REGISTRY,
    rpcUrl: 'http://127.0.0.1:1',
    callsPerHour: 100,
    refusalMs: 0,
    priceMaxAgeSeconds: 3600,
    feedSeconds: 86_400,
    newest: () => null,
    repairable: () => 900,
    metrics: createIngestMetrics(registry),
    logger,
    onBug: (error) => t.fail(String(error)),
    everyMs: 1,
  })
  return {
    async stop() {
      await repairs.stop()
      await log.close()
    },
  }
}

test.serial('a break is not repaired before its slot is final (rules K8, K9)', async (t) => {
  const { store } = opened
  await store.command('TRUNCATE TABLE chain_breaks')
  await addTrackedWallets(store, [WALLET, ACCOUNT], [], 1)
  // Both end without a call, because the mint was never traded.
  const ofMint = { account: ACCOUNT, mint: MINT }
  const breaks = [901, 900].map((slot, at) => aBreak({ ...ofMint, wallet: at + 1, slot }))
  await breakWriter(store)(breaks)
  const repairs = startRepairs(t)
  const ended = () => readBreaks(store, ['unexplained'])
  while ((await ended()).length === 0) await pause(5)
  await repairs.stop()
  t.deepEqual(
    (await ended()).map(({ slot }) => slot),
    [900],
  )
  t.deepEqual(
    (await readBreaks(store, ['open'])).map(({ slot }) => slot),
    [901],
  )
})

test.serial(
  'a break of a mint is open again once the wallet trades it (rules K6, K8)',
  async (t) => {
    const { store } = opened
    await store.command('TRUNCATE TABLE chain_breaks')
    const left = {
      account: ACCOUNT,
      mint: MINT,
      state: 'unexplained',
      cause: 'not_traded',
    } as const
    const breaks = [7, 8].map((wallet) => aBreak({ ...left, wallet, slot: 902 }))
    await breakWriter(store)(breaks)
    await store.command(
      `INSERT INTO swaps (wallet, base_mint, slot, version) VALUES (7, '${MINT}', 950, 1)`,
    )
    const repairs = startRepairs(t)
    const open = () => readBreaks(store, ['open'])
    while ((await open()).length === 0) await pause(5)
    await repairs.stop()
    t.deepEqual(await open(), [
      { ...breaks[0]!, state: 'open', cause: '', changedAt: (await open())[0]!.changedAt },
    ])
  },
)

test.serial('a mint that the wallet never traded costs no call (K6, K8)', async (t) => {
  const spam = aBreak({ wallet: 3, account: ACCOUNT, mint: MINT })
  t.deepEqual(await repaired(spam), {
    state: 'unexplained',
    cause: 'not_traded',
    tries: 0,
    changedAt: NOW,
    requests: [],
  })
})

test('a stretch far back is listed from its later link on (K8)', async (t) => {
  const cursors: (string | undefined)[] = []
  const info = (slot: number): SignatureInfo => ({
    signature: `of ${slot}`,
    slot,
    failed: false,
    blockTime: null,
  })
  const found = await listStretch(
    {
      async getSignaturesForAddress(_address, { before, limit }) {
        cursors.push(before)
        const newest = before === undefined ? 9000 : 899
        return Array.from({ length: limit }, (_, at) => info(newest - at))
      },
      getBlockSignatures: async () => ({ blockTime: 1, signatures: ['a', 'b', 'c', 'the link'] }),
    },
    ACCOUNT,
    aBreak({}),
  )
  t.deepEqual(cursors, [undefined, 'the link'])
  t.deepEqual([found[0]?.slot, found.at(-1)?.slot, found.length], [899, 700, 200])
})

test('a budget refills over the hour, and keeps one hour at most (K6)', (t) => {
  let now = 0
  const budget = new CallBudget(2, () => now)
  budget.spend()
  t.true(budget.isLeft)
  budget.spend()
  budget.spend()
  t.false(budget.isLeft)
  now = 3_600_000
  t.true(budget.isLeft)
  budget.spend()
  t.false(budget.isLeft)
  now = 100 * 3_600_000
  t.true(budget.isLeft)
  budget.spend()
  budget.spend()
  t.false(budget.isLeft)
})
