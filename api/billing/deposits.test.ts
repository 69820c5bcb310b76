import test from 'ava'
import { type Simulator, startSimulator } from '../../infra/simulator/simulator.ts'
import {
  createStage,
  PAYMENT_PATHS,
  type Stage,
} from '../../infra/simulator/testing/payment-paths.ts'
import type { Address } from '../../pipeline/domain/address.ts'
import { USDT } from '../../pipeline/domain/quote.ts'
import { createRpc } from '../../pipeline/ingest/rpc.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { createDepositIndex, type DepositIndex } from '../../pipeline/workers/deposits.ts'
import { Credits } from '../credits/credits.ts'
import { Ledger } from '../credits/ledger.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { Billing } from './billing.ts'
import { billingEnv, billingTerms } from './terms.ts'
import { createTurns } from './turns.ts'

const FINALITY = 40
let opened: TestStore
let simulator: Simulator
let stage: Stage
let index: DepositIndex
let billing: Billing

test.before(async () => {
  opened = await openEmbeddedStore()
  simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: 405_000_000 },
    ...{ wallets: 5, coins: 40, othersPerSlot: 1, trackedPerSlot: 0.1 },
  })
  stage = await createStage(simulator)
  const { store } = opened
  const logger = createLogger('silent')
  const metrics = createIngestMetrics(createRegistry())
  const rpc = createRpc({ url: simulator.rpcUrl, metrics })
  const payments = { ...simulator.paymentAddresses, mint: USDT }
  index = createDepositIndex({ store, rpc, payments, logger })
  const meter = createMemoryMeter()
  const ledger = new Ledger({ store, meter })
  const terms = billingTerms(readEnv(billingEnv, {}), simulator.paymentAddresses)
  if (terms === null) throw new Error('there are addresses')
  billing = new Billing({
    ...{ store, ledger, terms, turns: createTurns(null) },
    credits: new Credits({ meter, ledger, logger }),
    catchUp: () => index.catchUp(),
    ensureAccount: async () => {},
  })
})
test.after.always(async () => {
  await index.close()
  await simulator.close()
  await opened.drop()
})

for (const { title, run } of PAYMENT_PATHS) {
  test.serial(`paid by: ${title}`, async (t) => {
    const { customer, arrived } = await run(stage)
    simulator.advance(FINALITY)
    const credits = arrived.reduce((sum, amount) => sum + Number(amount / 1000n), 0)
    const wallet = customer.address as Address // of a key pair
    t.deepEqual(await billing.checkCredits(wallet), { credited: credits, balance: credits })
    t.deepEqual(await billing.checkCredits(wallet), { credited: 0, balance: credits })
  })
}
