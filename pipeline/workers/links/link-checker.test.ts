import test from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../../domain/address.ts'
import type { BalanceRecord, TokenAccountLink } from '../../domain/event.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import { createBackfillJobs, newJob } from '../../store/tables/backfills.ts'
import { insertFirstSnapshots } from '../../store/tables/balance-snapshots.ts'
import { readBreaks } from '../../store/tables/chain-breaks.ts'
import { insertDecodedRows } from '../../store/tables/decoded-rows.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { recordRow } from '../fold/event-rows.ts'
import { createLinkCheckMetrics } from '../telemetry.ts'
import { LinkChecker } from './link-checker.ts'

type Link = BalanceRecord | TokenAccountLink

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())
test.beforeEach(async () => {
  const { store } = opened
  await emptyTables(store)
})

const ACCOUNT = addressFromBytes(new Uint8Array(32).fill(7))
const MINT = addressFromBytes(new Uint8Array(32).fill(8))

const link = (slot: number, before: bigint, after: bigint, txIndex = 0): TokenAccountLink => ({
  kind: 'token_link',
  slot,
  txIndex,
  wallet: 1,
  blockTime: 1_700_000_000 + slot,
  account: ACCOUNT,
  mint: MINT,
  before,
  after,
})

const balance = (slot: number, lamportsBefore: bigint, lamports: bigint): BalanceRecord => ({
  kind: 'balance',
  slot,
  txIndex: 0,
  wallet: 1,
  blockTime: 1_700_000_000 + slot,
  lamports,
  lamportsBefore,
})

/** A checker with a clock of its own, in milliseconds. */
function aChecker() {
  const { store } = opened
  const clock = { now: 1_800_000_000_000 }
  const registry = createRegistry()
  const metrics = createLinkCheckMetrics(registry)
  const create = () =>
    new LinkChecker({
      store,
      metrics,
      isMine: () => true,
      now: () => clock.now,
    })
  let checker = create()
  return {
    /** Stores links without a note, as in a process that ended then. */
    async store(...links: readonly Link[]) {
      const [sol, token] = ['balance', 'token_link'].map((kind) =>
        links.filter((record) => record.kind === kind).map((record) => recordRow(record)),
      )
      if (sol?.length) await insertDecodedRows(store, 'sol_balances', sol)
      if (token?.length) await insertDecodedRows(store, 'token_links', token)
    },
    note(...links: readonly Link[]) {
      checker.note(links.map((record) => ({ record })))
    },
    /** Stores and notes links, then lets a pass run. */
    async add(...links: readonly Link[]) {
      await this.store(...links)
      this.note(...links)
      await checker.pass()
    },
    /** Lets seconds pass, one pass after the other. Returns the position after the last. */
    async wait(seconds: number) {
      let position = { slot: 0, time: 0 }
      for (let second = 0; second < seconds; second += 1) {
        clock.now += 1000
        position = await checker.pass()
      }
      return position
    },
    /** A new process that begins at a slot, and was told of some stored links before. */
    async restart(slot: number, ...noted: readonly Link[]) {
      checker = create()
      this.note(...noted)
      await checker.recover({ slot, time: 1_700_000_000 })
    },
    /** How many links were late. */
    async late() {
      const { values } = (await registry.getSingleMetric('link_checks_total')?.get()) ?? {}
      const of = (outcome: string) => values?.find(({ labels }) => labels.outcome === outcome)
      return of('late')?.value ?? 0
    },
    noteWallets: (wallets: readonly number[]) => checker.noteWallets(wallets),
  }
}

/** The breaks that are stored: slot, previous slot, what was expected and found, and state. */
async function breaks() {
  const found = await readBreaks(opened.store, ['open', 'unexplained', 'accepted', 'closed'])
  return found.map(({ slot, from, expected, found, state }) => [
    slot,
    from.slot,
    expected,
    found,
    state,
  ])
}

test.serial('links that fit open no break (K8)', async (t) => {
  const checker = aChecker()
  await checker.add(link(1, 0n, 5n), balance(1, 100n, 90n))
  await checker.add(balance(2, 90n, 80n), link(3, 5n, 5n), link(3, 5n, 0n, 1))
  await checker.add(link(9, 0n, 7n))
  await checker.wait(15)
  t.deepEqual(await breaks(), [])
})

test.serial(
  'a break opens ten seconds after it was seen, and closes when what is missing comes (K8)',
  async (t) => {
    const checker = aChecker()
    await checker.add(link(1, 0n, 500n))
    await checker.add(link(5, 700n, 100n))
    await checker.wait(9)
    t.deepEqual(await breaks(), [])
    await checker.wait(2)
    t.deepEqual(await breaks(), [[5, 1, 500n, 700n, 'open']])
    await checker.add(link(3, 500n, 700n))
    t.deepEqual(await breaks(), [[5, 1, 500n, 700n, 'closed']])
  },
)

test.serial('what comes late within ten seconds opens no break (K8)', async (t) => {
  const checker = aChecker()
  await checker.add(balance(1, 100n, 90n))
  await checker.add(balance(5, 70n, 60n))
  await checker.wait(5)
  await checker.add(balance(3, 90n, 70n))
  await checker.wait(30)
  t.deepEqual(await breaks(), [])
})

test.serial('a link that a start reads and is told of is late only if it is (K8)', async (t) => {
  const checker = aChecker()
  const links = [link(3, 0n, 5n), link(4, 5n, 6n), link(5, 6n, 7n)]
  await checker.store(...links)
  await checker.restart(2, ...links, balance(4, 100n, 90n))
  await checker.wait(1)
  t.is(await checker.late(), 0)
  await checker.add(link(1, 0n, 0n))
  t.is(await checker.late(), 1)
})

test.serial('a link that a start reads, and is told of after it, is not late (K8)', async (t) => {
  const checker = aChecker()
  const links = [link(3, 0n, 5n), link(4, 5n, 6n), link(5, 6n, 7n)]
  await checker.store(...links)
  await checker.restart(2)
  checker.note(...links)
  await checker.wait(1)
  t.is(await checker.late(), 0)
  await checker.add(link(2, 0n, 0n))
  t.is(await checker.late(), 1)
})

test.serial('of two missing transactions of a stretch, one moves the break (K8)', async (t) => {
  const checker = aChecker()
  await checker.add(link(1, 0n, 10n))
  await checker.add(link(9, 30n, 30n))
  await checker.wait(11)
  await checker.add(link(5, 20n, 30n))
  await checker.wait(11)
  t.deepEqual(await breaks(), [
    [9, 1, 10n, 30n, 'closed'],
    [5, 1, 10n, 20n, 'open'],
  ])
  await checker.add(link(4, 10n, 20n))
  t.deepEqual(
    (await breaks()).map(([slot, , , , state]) => [slot, state]),
    [
      [9, 'closed'],
      [5, 'closed'],
    ],
  )
})

test.serial(
  'one of two missing in a slot, and links of one slot, are in the order of the block (K8)',
  async (t) => {
    const checker = aChecker()
    await checker.add(link(5, 0n, 1n, 3), link(5, 2n, 3n, 9))
    await checker.wait(11)
    t.deepEqual(await breaks(), [[5, 5, 1n, 2n, 'open']])
    await checker.add(link(5, 1n, 2n, 4))
    t.deepEqual(await breaks(), [[5, 5, 1n, 2n, 'closed']])
  },
)

test.serial('a snapshot opens the chains: accounts that it lacks held nothing (K8)', async (t) => {
  const checker = aChecker()
  const sol = { wallet: 1, account: '', mint: '', slot: 10, amount: 100n }
  const token = { ...sol, account: ACCOUNT, mint: MINT, amount: 5n }
  await insertFirstSnapshots(opened.store, [token], [sol])
  const other = { account: MINT }
  await checker.add(balance(11, 100n, 90n), link(12, 6n, 7n), { ...link(12, 1n, 2n), ...other })
  await checker.wait(11)
  t.deepEqual(await breaks(), [
    [12, 10, 5n, 6n, 'open'],
    [12, 10, 0n, 1n, 'open'],
  ])
})

test.serial('without a snapshot the first link of an account is not doubted (K8)', async (t) => {
  const checker = aChecker()
  await checker.add(link(12, 6n, 7n), balance(12, 6n, 7n))
  await checker.wait(31)
  t.deepEqual(await breaks(), [])
})

test.serial('wallets that wait for a backfill do not hold up the others (K8)', async (t) => {
  const checker = aChecker()
  const waiting = Array.from({ length: 501 }, (_, at) => at + 2)
  const jobs = waiting.map((wallet) => newJob(wallet, 'gap', { fromSlot: 1, toSlot: 9 }, 0))
  await createBackfillJobs(opened.store).save(jobs)
  await checker.store(link(5, 0n, 1n), link(6, 2n, 3n))
  checker.noteWallets([...waiting, 1])
  await checker.wait(13)
  t.deepEqual(await breaks(), [[6, 5, 1n, 2n, 'open']])
})

test.serial(
  'a start checks the wallets again that waited for a backfill before it (K8)',
  async (t) => {
    const checker = aChecker()
    await checker.restart(0)
    const jobs = createBackfillJobs(opened.store)
    const job = newJob(1, 'gap', { fromSlot: 1, toSlot: 9 }, 0)
    await jobs.save([job])
    const before = await checker.wait(2)
    checker.noteWallets([1])
    const waiting = await checker.wait(20)
    t.is(waiting.time, before.time, 'the position goes on while it waits')
    await jobs.save([{ ...job, state: 'done' }])
    const after = await checker.wait(1)
    t.is(after.time, before.time + 21)
  },
)

test.serial('a backfill joins the chain from the older side, and is waited for (K8)', async (t) => {
  const checker = aChecker()
  const jobs = createBackfillJobs(opened.store)
  const job = newJob(1, 'added', { fromSlot: null, toSlot: null }, 0)
  await jobs.save([{ ...job, newestSlot: 11 }])
  const sol = { wallet: 1, account: '', mint: '', slot: 10, amount: 100n }
  await insertFirstSnapshots(opened.store, [], [sol])
  await checker.add(balance(11, 100n, 90n))
  await checker.add(balance(8, 60n, 70n), balance(3, 10n, 60n))
  await checker.wait(20)
  t.deepEqual(await breaks(), [])
  await jobs.save([{ ...job, state: 'done' }])
  await checker.wait(31)
  t.deepEqual(await breaks(), [[10, 8, 70n, 100n, 'open']])
  await checker.add(balance(9, 70n, 100n))
  t.deepEqual(await breaks(), [[10, 8, 70n, 100n, 'closed']])
})

test.serial(
  'a start finds what was stored and not checked; a recompute checks the whole wallet (K8)',
  async (t) => {
    const checker = aChecker()
    await checker.add(link(1, 0n, 10n))
    await checker.store(link(5, 20n, 30n))
    await checker.restart(4)
    await checker.wait(11)
    t.deepEqual(await breaks(), [[5, 1, 10n, 20n, 'open']])
    await checker.store(link(3, 10n, 20n), balance(3, 1n, 2n), balance(4, 3n, 4n))
    checker.noteWallets([1])
    await checker.wait(12)
    t.deepEqual(await breaks(), [
      [5, 1, 10n, 20n, 'closed'],
      [4, 3, 2n, 3n, 'open'],
    ])
  },
)

test.serial(
  'a balance stored without the lamports before is not compared with the previous one (K3, K8)',
  async (t) => {
    const checker = aChecker()
    await checker.add(balance(1, 5n, 6n))
    await checker.add({ ...balance(2, 0n, 3n), lamportsBefore: null })
    await checker.add(balance(3, 3n, 4n))
    await checker.add(balance(4, 5n, 4n))
    checker.noteWallets([1])
    await checker.wait(12)
    t.deepEqual(await breaks(), [[4, 3, 4n, 5n, 'open']])
  },
)

test.serial('what thousands of accounts held before is asked in a few statements', async (t) => {
  const checker = aChecker()
  const links = Array.from({ length: 2500 }, (_, at) => {
    const account = addressFromBytes(
      new Uint8Array(32).map((_byte, n) => (n < 2 ? at >> (8 * n) : 9)),
    )
    return { ...link(1, 0n, BigInt(at + 1)), account }
  })
  await checker.add(...links)
  await checker.restart(1)
  await checker.add(...links.map((one) => ({ ...link(2, one.after, 0n), account: one.account })))
  await checker.wait(15)
  t.deepEqual(await breaks(), [])
  await checker.restart(2)
  const [first] = links
  await checker.add({ ...link(3, 8n, 9n), account: first?.account ?? ACCOUNT })
  await checker.wait(15)
  t.deepEqual(await breaks(), [[3, 2, 0n, 8n, 'open']])
})

/** Links of two accounts, each a chain, and the order in which some of them come. */
const aDelivery = fc
  .array(
    fc.record({
      account: fc.constantFrom(ACCOUNT, MINT),
      change: fc.bigInt(1n, 5n),
      batch: fc.nat(3),
      isLost: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      isNoted: fc.boolean(),
    }),
    { minLength: 2, maxLength: 14 },
  )
  .map((steps) => {
    const held = new Map<string, bigint>()
    return steps.map((step, at) => {
      const before = held.get(step.account) ?? 0n
      const after = before + step.change
      held.set(step.account, after)
      const transaction = { txIndex: at % 3 }
      const slot = 10 + Math.floor(at / 3)
      return {
        ...step,
        link: { ...link(slot, before, after), ...transaction, account: step.account },
      }
    })
  })

test.serial(
  'in whatever order links come, noted or not: exactly the lost ones leave breaks, until they come (K8)',
  async (t) => {
    let signature = 0
    await fc.assert(
      fc.asyncProperty(aDelivery, async (steps) => {
        // A wallet for each run: the tables keep those of earlier ones.
        signature += 1
        const wallet = signature
        const links = steps.map((step) => ({ ...step, link: { ...step.link, wallet } }))
        const checker = aChecker()
        const present = links.filter(({ isLost }) => !isLost)
        for (const batch of [0, 1, 2, 3]) {
          const now = present.filter((step) => step.batch === batch)
          await checker.store(...now.filter(({ isNoted }) => !isNoted).map((s) => s.link))
          await checker.add(...now.filter(({ isNoted }) => isNoted).map((s) => s.link))
          await checker.wait(1)
        }
        await checker.restart(9)
        await checker.wait(12)
        const unclosed = await readBreaks(opened.store, ['open'], { wallet })
        t.deepEqual(
          unclosed
            .map(({ account, slot, txIndex, expected, found }) => [
              account,
              slot,
              txIndex,
              expected,
              found,
            ])
            .sort(),
          seamsOf(present.map(({ link }) => link)).sort(),
        )
        const lost = links.filter(({ isLost }) => isLost).map((s) => s.link)
        await checker.add(...lost)
        await checker.wait(12)
        t.deepEqual(await readBreaks(opened.store, ['open'], { wallet }), [])
      }),
      { numRuns: 25 },
    )
  },
)

/** The breaks of chains without their lost links, worked out one by one. */
function seamsOf(links: readonly TokenAccountLink[]) {
  return [ACCOUNT, MINT].flatMap((account) => {
    const own = links.filter((one) => one.account === account)
    return own.flatMap((one, at) => {
      const previous = own[at - 1]
      return previous === undefined || previous.after === one.before
        ? []
        : [[account, one.slot, one.txIndex, previous.after, one.before]]
    })
  })
}
