import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import { TOKEN_2022 } from '../../infra/simulator/market/programs.ts'
import {
  initializeMint,
  mintTo,
  transfer,
  transferChecked,
  transferCheckedWithFee,
} from '../../infra/simulator/payments/token-instructions.ts'
import { type Simulator, startSimulator } from '../../infra/simulator/simulator.ts'
import { createPayer, type Payer, rentOf } from '../../infra/simulator/testing/payer.ts'
import {
  createPaymentStage,
  PAYMENT_PATHS,
  type PaymentStage,
} from '../../infra/simulator/testing/payment-paths.ts'
import { readDeposits } from '../../pipeline/decode/deposits.ts'
import { type Address, address, addressFromBytes } from '../../pipeline/domain/address.ts'
import { USDT } from '../../pipeline/domain/quote.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { LIVE_START } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import type { HistoryRpc, PaymentRpc, SolanaRpc } from '../../pipeline/ingest/rpc/solana-rpc.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { normalizeRpc } from '../../pipeline/ingest/wire/normalize-rpc.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { DepositAccounts } from '../../pipeline/workers/deposits/deposit-accounts.ts'
import { readDepositHistory } from '../../pipeline/workers/deposits/deposit-history.ts'
import { DepositIndex } from '../../pipeline/workers/deposits/deposits.ts'
import { startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import { createAccountLocks } from '../account-locks.ts'
import { Ledger } from '../credits/ledger.ts'
import type { Meter } from '../credits/meter.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { assignDeposit } from './assign.ts'
import { Billing } from './billing.ts'
import { readUnmatched } from './deposit-rows.ts'
import { billingEnv, billingTerms } from './terms.ts'

/** Slots until a transaction is finalized. */
const FINALITY = 40
const logger = createLogger('silent')
let opened: TestStore
let simulator: Simulator
let stage: PaymentStage
let rpc: SolanaRpc & HistoryRpc & PaymentRpc
let index: DepositIndex
let api: TestApi
/** Faults to inject, and counts of requests. */
const trouble = {
  rpcDown: false,
  innerLost: false,
  fetched: 0,
  listed: 0,
  histories: 0,
  /**
   * The first slot that a node lists and, if it has pruned earlier ones, returns transactions of.
   */
  listsFrom: 0,
  tellsFrom: 0,
  storeDies: null as string | null,
  /** Which dependency of a check is down. */
  away: null as 'query' | 'insert' | 'meter' | 'lock' | 'lock, once begun' | null,
}
const away = () => new ServiceError('unavailable', 'away', { retriable: true })
const clock = { now: 1_790_000_000_900 }

test.before(async () => {
  opened = await openEmbeddedStore()
  simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: 405_000_000 },
    wallets: 5,
    coins: 40,
    othersPerSlot: 1,
    trackedPerSlot: 0.1,
  })
  stage = await createPaymentStage(simulator)
  rpc = createRpc({ url: simulator.rpcUrl, metrics: createIngestMetrics(createRegistry()) })
  index = newIndex(opened.store)
  api = await startApi(opened.store, {
    now: () => clock.now,
    billing: (parts) => {
      const store = dyingStore(opened.store)
      const locks = createAccountLocks(null)
      return new Billing({
        ...parts,
        store,
        terms: terms(),
        now: () => clock.now,
        locks: {
          withLock: async (account, task) => {
            if (trouble.away === 'lock') throw away()
            const require = () => {
              if (trouble.away === 'lock, once begun') throw away()
            }
            return locks.withLock(account, () => task({ requireHeld: require }))
          },
        },
        ledger: new Ledger({ store, meter: leavingMeter(parts.meter), now: () => clock.now }),
        catchUp: () => index.catchUp(),
        ensureAccount: parts.accounts.ensure.bind(parts.accounts),
      })
    },
  })
})
test.after.always(async () => {
  await api.close()
  await index.close()
  await simulator.close()
  await opened.remove()
})

function terms() {
  const found = billingTerms(readEnv(billingEnv, {}), simulator.paymentAddresses)
  if (found === null) throw new Error('the simulator has payment addresses')
  return found
}

function newIndex(store: Store, restMs = 0): DepositIndex {
  const down = new ServiceError('unavailable', 'RPC is down', { retriable: true })
  const orDown = async <T>(ask: () => Promise<T>) => {
    if (trouble.rpcDown) throw down
    return ask()
  }
  return new DepositIndex({
    store,
    logger,
    restMs,
    payments: terms().payments,
    rpc: {
      async getSignaturesForAddress(of, page) {
        trouble.histories++
        const found = await orDown(() => rpc.getSignaturesForAddress(of, page))
        return found.filter(({ slot }) => slot >= trouble.listsFrom)
      },
      getTokenAmounts(of, mint) {
        trouble.listed++
        return orDown(() => rpc.getTokenAmounts(of, mint))
      },
      getBlocks: (from, to) => orDown(() => rpc.getBlocks(from, to)),
      async getTransaction(signature) {
        trouble.fetched++
        const json = await orDown(() => rpc.getTransaction(signature))
        const { slot } = (json ?? { slot: 0 }) as { slot: number } // JSON of the simulator
        if (slot < trouble.tellsFrom) return null
        return trouble.innerLost ? withoutInner(json) : json
      },
    },
  })
}

/** A transaction from a node that keeps no inner instructions. */
function withoutInner(json: unknown): unknown {
  const { meta, ...rest } = json as { meta: object } // JSON of the simulator
  return { ...rest, meta: { ...meta, innerInstructions: null } }
}

/** A meter that does not answer calls about ledger entries. */
function leavingMeter(meter: Meter): Meter {
  return new Proxy(meter, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      return trouble.away === 'meter' ? () => Promise.reject(away()) : found.bind(target)
    },
  })
}

/**
 * The store of a process that is killed before, or after, it writes to a table; or a store that
 * does not answer.
 */
function dyingStore(store: Store): Store {
  return {
    ...store,
    async query(sql, params) {
      if (trouble.away === 'query') throw away()
      return store.query(sql, params)
    },
    async insert(table, rows, options) {
      if (trouble.away === 'insert') throw away()
      if (trouble.storeDies === `before ${table}`) throw new Error('killed')
      await store.insert(table, rows, options)
      if (trouble.storeDies === `after ${table}`) throw new Error('killed')
    },
  }
}

async function ask(payer: Payer, method: 'GET' | 'POST', path: string) {
  const token = await api.token(payer.address as Address) // address of a key pair
  const headers = { Authorization: `Bearer ${token}` }
  const response = await fetch(`${api.url}${path}`, { method, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const check = async (payer: Payer) => (await ask(payer, 'POST', '/billing/credits/check')).body
const checkPro = async (payer: Payer) => (await ask(payer, 'POST', '/billing/pro/check')).body
const payCredits = (payer: Payer, amount: bigint) =>
  payer.pay(simulator.paymentAddresses.credits, amount)
const payPro = (payer: Payer, amount: bigint) => payer.pay(simulator.paymentAddresses.pro, amount)

for (const version of ['legacy', 1] as const) {
  for (const { title, run } of PAYMENT_PATHS) {
    test.serial(`paid by: ${title}, in version ${version} (E5)`, async (t) => {
      const { customer, arrived } = await run({ ...stage, version })
      simulator.advance(FINALITY)
      const credits = arrived.reduce((sum, amount) => sum + Number(amount / 1000n), 0)
      t.deepEqual(await check(customer), { credited: credits, balance_credits: credits })
      t.deepEqual(await check(customer), { credited: 0, balance_credits: credits })
    })
  }
}

test.serial(
  'without inner instructions from the node, a payment inside another program is unreadable (E5)',
  async (t) => {
    const paths = ['inside another program', '`transferChecked`', 'sent back in the same']
    trouble.innerLost = true
    const found = []
    for (const title of paths) {
      const [run] = PAYMENT_PATHS.flatMap((path) => (path.title.startsWith(title) ? path.run : []))
      const { customer } = await run!(stage) // the path exists
      simulator.advance(FINALITY)
      const { credited } = await check(customer)
      const [row] = await opened.store.query<{ unread: number }>(
        `SELECT toUInt32(count()) AS unread FROM deposits FINAL
         WHERE wallet = '' AND purpose = 'credits' AND amount = 0 AND finalized = 1`,
      )
      found.push([credited, row?.unread])
    }
    trouble.innerLost = false
    t.deepEqual(found, [
      [0, 1],
      [3000, 1],
      [750, 1],
    ])
  },
)

test.serial('a payment that is not finalized yet is redeemed later (E5)', async (t) => {
  const payer = await createPayer(simulator, 100_000_000n)
  await payCredits(payer, 10_000_000n)
  await payPro(payer, 5_000_000n)
  for (const slots of [0, 1, 5, 20]) {
    simulator.advance(slots)
    t.deepEqual(await check(payer), { credited: 0, balance_credits: 0 })
    t.like(await checkPro(payer), { active: false })
  }
  simulator.advance(FINALITY)
  t.deepEqual(await check(payer), { credited: 10_000, balance_credits: 10_000 })
  t.like(await checkPro(payer), { active: true, plan: 'trial' })
})

test.serial('with a transfer fee on the mint, the amount that arrives counts', async (t) => {
  const payer = await createPayer(simulator, 0n)
  const { publicKey } = payer.key
  const program = new PublicKey(TOKEN_2022.bytes)
  const mint = Keypair.generate()
  // InitializeTransferFeeConfig (26, 0): two optional authorities, basis points u16, maximum u64.
  const config = Buffer.concat([
    ...[Uint8Array.of(26, 0, 0, 0, 250, 0), Buffer.from('00ca9a3b00000000', 'hex')],
  ])
  const create = SystemProgram.createAccount({
    fromPubkey: publicKey,
    newAccountPubkey: mint.publicKey,
    lamports: rentOf(278),
    space: 278,
    programId: program,
  })
  const keys = [{ pubkey: mint.publicKey, isSigner: false, isWritable: true }]
  await payer.send(
    [
      create,
      new TransactionInstruction({ programId: program, keys, data: config }),
      initializeMint(mint.publicKey, publicKey, 6, program),
    ],
    { signers: [mint] },
  )
  const space = { mint: mint.publicKey, program, space: 178 }
  const mine = await payer.openAccount(publicKey, space)
  const paid = await payer.openAccount(stage.owner, space)
  const sent = ([amount, fee]: readonly [bigint, bigint?]) =>
    fee === undefined
      ? transferChecked(mine, mint.publicKey, paid, publicKey, amount, 6, program)
      : transferCheckedWithFee(mine, mint.publicKey, paid, publicKey, amount, 6, fee, program)
  const arrivedBy = async (...amounts: readonly (readonly [bigint, bigint?])[]) => {
    const signature = await payer.send([
      mintTo(mint.publicKey, mine, publicKey, 50_000_000n, program),
      ...amounts.map(sent),
    ])
    simulator.advance(2)
    const transaction = normalizeRpc(await rpc.getTransaction(signature))
    if (transaction.kind === 'malformed') throw new Error(transaction.reason)
    const owners = [address(stage.owner.toBase58())]
    return readDeposits(transaction, { mint: address(mint.publicKey.toBase58()), owners })
  }
  const deposit = { owner: stage.owner.toBase58(), wallet: payer.address }
  t.deepEqual(await arrivedBy([10_001n]), [{ ...deposit, amount: 9_750n } as never])
  t.deepEqual(await arrivedBy([10_001n, 251n]), [{ ...deposit, amount: 9_750n } as never])
  t.deepEqual(await arrivedBy([10_001n], [40_000n, 1_000n], [7n]), [
    { ...deposit, amount: 9_750n + 39_000n + 6n } as never,
  ])
})

test.serial('50 checks at once credit once', async (t) => {
  const payer = await createPayer(simulator, 100_000_000n)
  await payCredits(payer, 10_000_000n)
  await payPro(payer, 5_000_000n)
  simulator.advance(FINALITY)
  const found = await Promise.all(Array.from({ length: 50 }, () => check(payer)))
  t.is(
    found.reduce((sum, { credited }) => sum + Number(credited), 0),
    10_000,
  )
  t.true(found.every(({ balance_credits }) => balance_credits === 10_000))
  const pro = await Promise.all(Array.from({ length: 50 }, () => checkPro(payer)))
  const expires = Math.floor(clock.now / 1000) + 3 * 86_400
  t.true(pro.every(({ expires_at }) => expires_at === expires))
})

test.serial('while RPC is down a check is 503, credits nothing and loses nothing', async (t) => {
  const payer = await createPayer(simulator, 100_000_000n)
  await payCredits(payer, 10_000_000n)
  simulator.advance(FINALITY)
  trouble.rpcDown = true
  for (const path of ['/billing/credits/check', '/billing/pro/check'])
    t.like(await ask(payer, 'POST', path), { status: 503, body: { code: 'unavailable' } })
  t.deepEqual((await ask(payer, 'GET', '/billing/credits/topups')).body, { items: [] })
  trouble.rpcDown = false
  t.deepEqual(await check(payer), { credited: 10_000, balance_credits: 10_000 })
})

test.serial(
  'while the store, the meter or the locks are down a check is 503, and loses nothing (K5)',
  async (t) => {
    for (const moment of ['query', 'insert', 'meter', 'lock', 'lock, once begun'] as const) {
      const payer = await createPayer(simulator, 100_000_000n)
      t.deepEqual(await check(payer), { credited: 0, balance_credits: 0 })
      await payCredits(payer, 10_000_000n)
      await payPro(payer, 5_000_000n)
      simulator.advance(FINALITY)
      trouble.away = moment
      for (const path of ['/billing/credits/check', '/billing/pro/check']) {
        if (moment === 'meter' && path.includes('pro')) continue // a check of Pro needs no meter
        const refusal = { status: 503, body: { code: 'unavailable' } }
        for (let n = 0; n < 2; n++) t.like(await ask(payer, 'POST', path), refusal, moment)
      }
      trouble.away = null
      // The meter comes last: the credits are stored, though the caller got 503.
      const credited = moment === 'meter' ? 0 : 10_000
      t.deepEqual(await check(payer), { credited, balance_credits: 10_000 }, moment)
      t.like(await checkPro(payer), { active: true, seconds_left: 3 * 86_400 })
    }
    t.deepEqual((await api.ledger.check()).mismatches, [])
  },
)

test.serial('many checks cause RPC requests at a bounded rate only', async (t) => {
  const resting = newIndex(opened.store, 60_000)
  trouble.listed = 0
  await Promise.all(Array.from({ length: 20 }, () => resting.catchUp()))
  t.is(trouble.listed, 2)
  // The next run is shared by all, and does not start yet.
  const next = Array.from({ length: 20 }, () => resting.catchUp())
  t.is(new Set(next).size, 1)
  await check(await createPayer(simulator, 0n))
  t.is(trouble.listed, 4) // by the other index, which has no pause
  const closed = t.throwsAsync(next[0]!, { code: 'closed' }) // one of 20
  await resting.close()
  await closed

  const brisk = newIndex(opened.store, 50)
  const began = performance.now()
  for (let n = 0; n < 4; n++) await brisk.catchUp()
  t.true(performance.now() - began > 3 * 50 - 5)
  await brisk.close()
})

test.serial(
  'token accounts that strangers create for a payment address are read when they receive a payment',
  async (t) => {
    const stranger = await createPayer(simulator, 100_000_000n)
    const given: PublicKey[] = []
    for (let n = 0; n < 60; n++) given.push(await stranger.openAccount(stage.owner))
    simulator.advance(FINALITY)
    // The two addresses, their associated accounts, and some of the new ones.
    trouble.histories = 0
    await index.catchUp()
    t.true(trouble.histories <= 4 + 50, `${trouble.histories}`)
    const quiet = async () => {
      for (let n = 0; n < 6; n++) {
        simulator.advance(100)
        await index.catchUp()
      }
      trouble.histories = 0
      await index.catchUp()
      return trouble.histories
    }
    t.is(await quiet(), 4)

    // The amount of an account grew, without an event on the stream.
    const { publicKey } = stranger.key
    await stranger.send([transfer(stranger.usdt, given[7]!, publicKey, 2_000_000n)])
    simulator.advance(FINALITY)
    trouble.histories = 0
    t.deepEqual(await check(stranger), { credited: 2000, balance_credits: 2000 })
    t.is(trouble.histories, 5)

    // A payment that is transferred out again before a read. The payment address signs that
    // transfer.
    await stranger.send([transfer(stranger.usdt, given[8]!, publicKey, 3_000_000n)])
    simulator.advance(1)
    const out = transfer(given[8]!, stage.account, stage.owner, 3_000_000n)
    await stranger.send([out], { signers: [stage.ownerKey] })
    simulator.advance(FINALITY)
    t.deepEqual(await check(stranger), { credited: 3000, balance_credits: 5000 })
    t.is(await quiet(), 4)

    // A new process reads them all, a few at a time.
    const next = newIndex(opened.store)
    trouble.histories = 0
    await next.catchUp()
    t.is(trouble.histories, 4 + 50)
    await next.close()
  },
)

test.serial(
  'beyond the limit of followed accounts, those with the largest balances are followed (K6)',
  (t) => {
    const { payments } = terms()
    const accounts = new DepositAccounts(payments)
    const nth = (n: number) => {
      const bytes = Buffer.alloc(32, 7)
      bytes.writeUInt32LE(n)
      return addressFromBytes(bytes)
    }
    const usual = [payments.pro, payments.credits]
    /** Reads the accounts that are due. */
    const read = (slot: number) => {
      const due = accounts.due(5000, new Set())
      for (const account of due)
        account.history = { processed: new Set(), position: { slot, signature: '' } }
      return due.map(({ address }) => address)
    }
    const amounts = new Map(Array.from({ length: 1200 }, (_, n) => [nth(n), 1n]))
    accounts.setAmounts('credits', amounts, 100)
    t.is(accounts.addresses(5000).length, 1000)
    t.is(read(100).length, 1000)
    // A larger balance replaces an account that was already read; an equal one does not.
    amounts.set(nth(5000), 10n).set(nth(5001), 1n)
    accounts.setAmounts('credits', amounts, 101)
    t.deepEqual(read(101), [...usual, nth(5000)])
    // The balance of an account that a transaction names is unknown, and counts as more than zero.
    accounts.touch(nth(6000), 'credits', 102)
    t.deepEqual(read(102), usual)
    accounts.setAmounts('credits', amounts.set(nth(7), 0n), 103)
    accounts.touch(nth(6000), 'credits', 103)
    t.deepEqual(read(103), [...usual, nth(7)], 'its outgoing transfer has not been read yet')
    accounts.touch(nth(6000), 'credits', 104)
    t.deepEqual(read(104), [...usual, nth(6000)])
    t.is(accounts.addresses(5000).length, 1000)
  },
)

test.serial(
  'a history with missing transactions is not accepted: checks are 503 until they are listed',
  async (t) => {
    const payer = await createPayer(simulator, 100_000_000n)
    await check(payer)
    await payCredits(payer, 1_000_000n)
    simulator.advance(200)
    trouble.listsFrom = simulator.slot
    for (const amount of [2_000_000n, 4_000_000n]) {
      simulator.advance(1)
      await payCredits(payer, amount)
      simulator.advance(200)
    }
    const path = '/billing/credits/check'
    for (let n = 0; n < 2; n++)
      t.like(await ask(payer, 'POST', path), { status: 503, body: { code: 'unavailable' } })
    trouble.listsFrom = 0
    t.deepEqual(await check(payer), { credited: 7000, balance_credits: 7000 })

    // An inactive account on a server that has pruned its transactions, but nothing newer than the
    // last read.
    simulator.advance(400)
    await check(payer)
    trouble.listsFrom = simulator.slot
    trouble.tellsFrom = simulator.slot
    simulator.advance(10)
    await payCredits(payer, 3_000_000n)
    simulator.advance(FINALITY)
    t.deepEqual(await check(payer), { credited: 3000, balance_credits: 10_000 })
    trouble.listsFrom = 0
    trouble.tellsFrom = 0
  },
)

test.serial(
  'for an account without transactions, the blocks that the server keeps show whether a list is complete',
  async (t) => {
    const account = address(stage.account.toBase58())
    const requests: unknown[] = []
    const read = (slot: number, blocks: number[]) =>
      readDepositHistory(
        {
          getSignaturesForAddress: async () => [],
          getTransaction: () => Promise.reject(new Error('of which?')),
          async getBlocks(from, to) {
            requests.push([from, to])
            return blocks
          },
        },
        ...([
          account,
          { position: { slot, signature: '' }, processed: new Set<string>() },
        ] as const),
        ...([5000, async () => {}] as const),
      )
    const position = { slot: 4850, signature: '' }
    t.deepEqual((await read(0, [])).position, position) // nothing was read before
    t.deepEqual(requests, [])
    await t.throwsAsync(read(4000, []), { message: /does not list the whole history/ })
    t.deepEqual((await read(4000, [4150])).position, position)
    t.deepEqual(requests, [
      [3900, 4150],
      [3900, 4150],
    ])
  },
)

test.serial('a page of a history comes from a server that has the previous page', async (t) => {
  const account = address(stage.account.toBase58())
  const known = {
    position: { slot: 100, signature: 'one of slot 100' },
    processed: new Set<string>(),
  }
  const entry = (slot: number) => ({
    slot,
    failed: false,
    blockTime: 0,
    signature: `${slot}`,
  })
  const requests: unknown[] = []
  let lacksBefore = true
  const read = (seen: number[]) =>
    readDepositHistory(
      {
        async getSignaturesForAddress(_, { limit, before, minContextSlot }) {
          requests.push([limit, before, minContextSlot])
          if (before !== undefined && lacksBefore) return []
          const from = before === undefined ? 5000 : Number(before) - 1
          const slots = Array.from({ length: limit }, (_, n) => from - n)
          return slots.filter((slot) => slot >= 90).map(entry)
        },
        getTransaction: async () => ({}),
        getBlocks: async () => [100],
      },
      ...([account, known, 4990] as const),
      async (infos) => {
        seen.push(...infos.map(({ slot }) => slot))
      },
    )
  await t.throwsAsync(read([]), { message: /does not list the whole history/ })
  t.deepEqual(requests.splice(0), [
    [100, undefined, 4840],
    [1000, '4901', 5000],
  ])
  lacksBefore = false
  const seen: number[] = []
  t.deepEqual(await read(seen), {
    position: { slot: 4840, signature: '4840' },
    processed: new Set(Array.from({ length: 160 }, (_, n) => `${5000 - n}`)),
  })
  t.deepEqual(
    seen,
    Array.from({ length: 4900 }, (_, n) => 5000 - n),
  )
})

test.serial(
  'after a crash between finding and crediting, the next check credits the deposit',
  async (t) => {
    for (const moment of ['before', 'after']) {
      const payer = await createPayer(simulator, 100_000_000n)
      // From here on the meter has the account loaded, and does not load it again by itself.
      t.deepEqual(await check(payer), { credited: 0, balance_credits: 0 })
      await payCredits(payer, 10_000_000n)
      await payPro(payer, 5_000_000n)
      simulator.advance(FINALITY)
      trouble.storeDies = `${moment} ledger_entries`
      t.is((await ask(payer, 'POST', '/billing/credits/check')).status, 500)
      trouble.storeDies = `${moment} subscriptions`
      t.is((await ask(payer, 'POST', '/billing/pro/check')).status, 500)
      trouble.storeDies = null
      // The credits that the killed process wrote are effective, although its caller got no
      // response.
      const credited = moment === 'before' ? 10_000 : 0
      t.deepEqual(await check(payer), { credited, balance_credits: 10_000 })
      t.like(await checkPro(payer), { active: true, seconds_left: 3 * 86_400 })
      t.deepEqual((await api.ledger.check()).mismatches, [])
    }
  },
)

test.serial(
  'Pro: exact price, oldest payment first, plans add up, ends to the second (E5, E6)',
  async (t) => {
    const payer = await createPayer(simulator, 1_000_000_000n)
    const wallet = payer.address
    const none = { wallet, active: false, plan: null, expires_at: null, seconds_left: 0 }
    t.deepEqual(await checkPro(payer), none)
    for (const amount of [4_999_999n, 5_000_001n, 10_000_000n]) await payPro(payer, amount)
    await payCredits(payer, 5_000_000n) // to the other address
    simulator.advance(FINALITY)
    t.deepEqual(await checkPro(payer), none)

    const start = Math.floor(clock.now / 1000)
    const until = (days: number) => start + days * 86_400
    await payPro(payer, 5_000_000n)
    simulator.advance(1)
    await payPro(payer, 49_000_000n)
    simulator.advance(FINALITY)
    // Two payments at once: the response has the plan of the later one.
    const both = { wallet, active: true, plan: 'monthly', expires_at: until(33) }
    t.deepEqual(await checkPro(payer), { ...both, seconds_left: 33 * 86_400 })
    clock.now += 86_400_000
    t.deepEqual(await checkPro(payer), { ...both, seconds_left: 32 * 86_400 })
    // A renewal before the end of Pro adds its days to the current end.
    await payPro(payer, 5_000_000n)
    simulator.advance(FINALITY)
    t.like(await checkPro(payer), { plan: 'trial', expires_at: until(36) })
    clock.now = (until(36) - 1) * 1000 + 999
    t.like(await checkPro(payer), { active: true, seconds_left: 1 })
    clock.now += 1
    t.deepEqual(await checkPro(payer), none)
    // Renewed afterwards: the days count from the check.
    await payPro(payer, 49_000_000n)
    simulator.advance(FINALITY)
    clock.now += 1_000_000
    t.like(await checkPro(payer), { expires_at: until(36) + 1000 + 30 * 86_400 })

    // A payment that matches no plan is listed for the operator, who assigns it once.
    const { store } = opened
    const unmatched = async () => {
      const { items } = await readUnmatched(store, terms())
      const own = items.filter((item) => item.wallet === wallet && item.purpose === 'pro')
      return own.map(({ signature, reason, amount }) => ({ signature, reason, amount }))
    }
    const left = (await unmatched()).toSorted((a, b) => Number(a.amount - b.amount))
    t.deepEqual(
      left.map(({ reason, amount }) => [reason, amount]),
      [4_999_999n, 5_000_001n, 10_000_000n].map((amount) => ['no_plan', amount]),
    )
    const { accounts, ledger } = api
    const deps = { store, ledger, accounts, prices: terms(), locks: createAccountLocks(null) }
    const [{ signature = '' } = {}] = left
    const assign = () =>
      assignDeposit(deps, { signature, account: wallet as Address, purpose: 'credits' })
    t.like(await assign(), { credits: 4999 })
    await t.throwsAsync(assign(), { code: 'already_redeemed' })
    t.is((await unmatched()).length, 2)
    t.like(await check(payer), { credited: 5000, balance_credits: 9999 })
  },
)

test.serial('payments for Pro are listed with what they bought, newest first (L18)', async (t) => {
  const payer = await createPayer(simulator, 100_000_000n)
  const list = async () => (await ask(payer, 'GET', '/billing/pro/payments')).body
  t.deepEqual(await list(), { items: [] })
  const items: object[] = []
  let until = 0
  for (let time = 0; time < 2; time++) {
    const tx_signature = await payPro(payer, 5_000_000n)
    simulator.advance(FINALITY)
    clock.now += 60_000
    await checkPro(payer)
    const created_at = Math.floor(clock.now / 1000)
    until = Math.max(until, created_at) + 3 * 86_400
    items.unshift({
      tx_signature,
      amount_usdt: 5,
      plan: 'trial',
      days: 3,
      created_at,
      expires_at: until,
    })
  }
  t.deepEqual(await list(), { items })
  const stranger = await createPayer(simulator, 0n)
  t.deepEqual((await ask(stranger, 'GET', '/billing/pro/payments')).body, { items: [] })
})

test.serial('top-ups are deposits, newest first; plans are public', async (t) => {
  const payer = await createPayer(simulator, 100_000_000n)
  const items = []
  for (const amount of [1_234_567n, 20_000_000n]) {
    const tx_signature = await payCredits(payer, amount)
    simulator.advance(FINALITY)
    clock.now += 60_000
    await check(payer)
    const created_at = Math.floor(clock.now / 1000)
    const credits = Number(amount / 1000n)
    items.unshift({ tx_signature, amount_usdt: Number(amount) / 1e6, credits, created_at })
  }
  const account = payer.address as Address // address of a key pair
  await api.accounts.adjust(account, 500, 'a gift', 'gift')
  t.deepEqual((await ask(payer, 'GET', '/billing/credits/topups')).body, { items })
  t.deepEqual(await check(payer), { credited: 0, balance_credits: 21_734 })
  const plans = await fetch(`${api.url}/billing/plans`)
  t.deepEqual((await plans.json()) as object, {
    payment_addresses: {
      pro_access: simulator.paymentAddresses.pro,
      api_credits: simulator.paymentAddresses.credits,
    },
    usdt_mint: USDT,
    usdt_decimals: 6,
    credits_per_usdt: 1000,
    plans: [
      { plan: 'trial', usdt: 5, days: 3 },
      { plan: 'monthly', usdt: 49, days: 30 },
    ],
  })
  for (const path of ['/billing/credits/check', '/billing/pro/check'])
    t.is((await fetch(`${api.url}${path}`, { method: 'POST' })).status, 401)
})

test.serial(
  'a new process continues from the stored position; deposits seen on the stream need no request',
  async (t) => {
    const { store } = opened
    await index.catchUp()
    trouble.fetched = 0
    const next = newIndex(store)
    await next.catchUp()
    // Deposits are known; other transactions of the last minute that name the accounts are read
    // again.
    const listed = await rpc.getSignaturesForAddress(address(stage.account.toBase58()), {
      limit: 1000,
    })
    t.true(trouble.fetched < listed.length / 2, `${trouble.fetched} of ${listed.length}`)

    const ingest = await startIngest({
      config: {
        endpoint: simulator.endpoint,
        xToken: null,
        rpcUrl: simulator.rpcUrl,
        pricePool: simulator.solPricePool,
        priceMaxAgeSeconds: 3600,
      },
      wallets: createWallets(simulator.wallets),
      log: createMemoryLog({ logger, registry: createRegistry() }),
      resumePoint: async () => LIVE_START,
      logger,
      registry: createRegistry(),
      deposits: next,
    })
    simulator.advance(2)
    await ingest.ready
    const payer = await createPayer(simulator, 100_000_000n)
    const account = await payer.openAccount(stage.owner)
    const usual = await payCredits(payer, 2_000_000n)
    const unusual = await payer.send([
      transferChecked(payer.usdt, new PublicKey(USDT), account, payer.key.publicKey, 3_000_000n, 6),
    ])
    const seen = async () => {
      const rows = await store.query<{ signature: string; finalized: number }>(
        `SELECT signature, finalized FROM deposits FINAL WHERE wallet = {wallet:String} ORDER BY amount`,
        { wallet: payer.address },
      )
      return rows.map(({ signature, finalized }) => [signature, finalized])
    }
    for (let slots = 0; slots < 20 && (await seen()).length < 2; slots++) {
      simulator.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.deepEqual(await seen(), [
      [usual, 0],
      [unusual, 0],
    ])
    // A deposit that is seen but not finalized is not credited.
    t.deepEqual(await check(payer), { credited: 0, balance_credits: 0 })
    await ingest.stop()
    simulator.advance(FINALITY)
    await next.catchUp()
    trouble.fetched = 0
    await next.catchUp()
    t.is(trouble.fetched, 0)
    t.deepEqual(await seen(), [
      [usual, 1],
      [unusual, 1],
    ])
    t.deepEqual(await check(payer), { credited: 5000, balance_credits: 5000 })
    await next.close()
  },
)
