import test from 'ava'
import { strangerOf } from '../../infra/bench/kit/stranger.ts'
import { type Simulator, startSimulator } from '../../infra/simulator/simulator.ts'
import type { Transaction } from '../domain/transaction.ts'
import { createWallets, type Wallets } from '../domain/wallets.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { type ChainFollower, followChain } from './follow-chain.ts'
import { createRpc } from './rpc/rpc.ts'
import { createSolPrices } from './sol-price.ts'
import { SELECTIONS, type Selection } from './stream/wallet-selection.ts'
import { openUpdateStream } from './stream/yellowstone.ts'
import { createIngestMetrics } from './telemetry.ts'

/*
 * Transactions of wallets may be selected in three ways (rule K24). The results are the same.
 */

const START = 405_000_000
const SLOTS = 60

const startMarket = (options: { readonly knowsCuckoo?: boolean } = {}) =>
  startSimulator({
    clock: { kind: 'manual', startSlot: START },
    wallets: 20,
    trackedPerSlot: 2,
    othersPerSlot: 4,
    ...options,
  })

/** A follower of the simulator from its start, the requests that it sends, and its metrics. */
function follow(simulator: Simulator, wallets: Wallets, selection: Selection | null) {
  const registry = createRegistry()
  const metrics = createIngestMetrics(registry)
  /** Names of the filters of transactions, by request. */
  const filters: string[][] = []
  const rpc = createRpc({ url: simulator.rpcUrl, metrics })
  const chain = followChain(
    {
      endpoint: simulator.endpoint,
      xToken: null,
      selection,
      pricePool: simulator.solPricePool,
      payments: () => Object.values(simulator.paymentAddresses),
      wallets,
      head: START,
      finality: { finalized: START, sealed: [], withdrawn: new Set() },
    },
    {
      rpc,
      openStream(options) {
        const { transactions } = options.request
        if (Object.keys(transactions).length > 0) filters.push(Object.keys(transactions))
        return openUpdateStream(options)
      },
      prices: createSolPrices(),
      logger: createLogger('silent'),
      metrics,
    },
    { recheckSlots: 0 },
  )
  const close = async () => {
    await chain.close()
    rpc.close()
  }
  return { chain, filters, registry, close }
}

/**
 * The next outputs up to a slot, with their transactions encoded, and without how far the chain was
 * final, which is a matter of time.
 */
async function upTo(chain: ChainFollower, slot: number): Promise<object[]> {
  const outputs: object[] = []
  for (;;) {
    const output = await chain.next()
    if (output === null) return outputs
    outputs.push(
      output.kind === 'slot'
        ? { ...output, finalized: null, transactions: output.transactions.map(shown) }
        : output,
    )
    if (output.kind === 'slot' && output.slot >= slot) return outputs
  }
}

const shown = (transaction: Transaction) => ({
  index: transaction.index,
  encoded: Buffer.from(transaction.encoded()).toString('base64'),
})

/** What a simulator replays with a selection, by which filters, and how much was dropped here. */
async function read(simulator: Simulator, selection: Selection) {
  const { chain, filters, registry, close } = follow(
    simulator,
    createWallets(simulator.wallets),
    selection,
  )
  const outputs = await upTo(chain, simulator.confirmedSlot)
  await close()
  const dropped = await registry.getSingleMetric('ingest_dropped_transactions_total')?.get()
  const unrelated = dropped?.values.find(({ labels }) => labels.reason === 'unrelated')
  return { outputs, filters, unrelated: unrelated?.value ?? 0 }
}

test.serial('all three selections give the same sealed slots (rule K24)', async (t) => {
  const simulator = await startMarket()
  simulator.advance(SLOTS)
  const byList = await read(simulator, 'list')
  t.deepEqual(byList.filters, [['wallets-1', 'payments-1']])
  t.true(byList.outputs.length > SLOTS / 2)
  t.is(byList.unrelated, 0)

  const byCuckoo = await read(simulator, 'cuckoo')
  t.deepEqual(byCuckoo.outputs, byList.outputs)
  t.deepEqual(byCuckoo.filters, [['wallets', 'cuckoo-probe', 'payments-1']])

  const byStream = await read(simulator, 'whole')
  t.deepEqual(byStream.outputs, byList.outputs)
  t.deepEqual(byStream.filters, [['wallets', 'payments-1']])
  t.true(byStream.unrelated > SLOTS)
  await simulator.close()
})

test.serial('a server that does not know cuckoo filters sends the whole stream', async (t) => {
  const simulator = await startMarket({ knowsCuckoo: false })
  simulator.advance(SLOTS)
  const { outputs, filters } = await read(simulator, 'cuckoo')
  t.deepEqual(filters, [
    ['wallets', 'cuckoo-probe', 'payments-1'],
    ['wallets', 'payments-1'],
  ])
  t.deepEqual(outputs, (await read(simulator, 'list')).outputs)
  await simulator.close()
})

test.serial('a list that the server does not take is replaced by a cuckoo filter', async (t) => {
  const simulator = await startMarket()
  const others = Array.from({ length: 95_000 }, (_, at) => strangerOf(at))
  const wallets = createWallets([...simulator.wallets, ...others])
  const { chain, filters, close } = follow(simulator, wallets, 'list')
  await chain.opened
  while (filters.length < 2) await new Promise(setImmediate)
  t.deepEqual(filters[1], ['wallets', 'cuckoo-probe', 'payments-1'])
  await close()
  await simulator.close()
})

for (const selection of SELECTIONS) {
  test.serial(`wallets are added to an open stream: ${selection} (rule K24)`, async (t) => {
    const simulator = await startMarket()
    const all = createWallets(simulator.wallets)
    const whole = follow(simulator, all, 'list')
    const growing = follow(simulator, createWallets(simulator.wallets.slice(0, 10)), selection)
    await Promise.all([whole.chain.opened, growing.chain.opened])
    const readBoth = async () => {
      simulator.advance(1)
      if (simulator.confirmedSlot <= START) return [[], []]
      return Promise.all([whole, growing].map(({ chain }) => upTo(chain, simulator.confirmedSlot)))
    }
    for (let slot = 0; slot < 5; slot++) await readBoth()
    growing.chain.updateWallets(all)
    // A server applies a changed subscription within 32 slots.
    for (let slot = 0; slot < 32; slot++) await readBoth()
    let events = 0
    for (let slot = 0; slot < 20; slot++) {
      const [expected = [], found = []] = await readBoth()
      t.deepEqual(found, expected)
      events += expected.length
    }
    t.true(events >= 20)
    t.is(growing.filters.length, 1)
    await Promise.all([whole.close(), growing.close()])
    await simulator.close()
  })
}
