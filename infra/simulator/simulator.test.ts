import {
  CommitmentLevel,
  CompressedAccountFilterSet,
  SlotStatus,
  type SubscribeRequest,
  type SubscribeUpdate,
  TokenAccountExpansionControlFlag,
} from '@triton-one/yellowstone-grpc'
import test, { type ExecutionContext } from 'ava'
import bs58 from 'bs58'
import { accountKeysOf } from './block.ts'
import { GENESIS_MS, SLOT_MS } from './market/slot-time.ts'
import { ALL_TROUBLE, OMISSIONS, type SimulatorOptions, type Trouble } from './options.ts'
import { type Simulator, startSimulator } from './simulator.ts'
import {
  callRpc,
  collect,
  connectYellowstone,
  EMPTY_REQUEST,
  followWallets,
} from './testing/client.ts'

const START = 405_000_000

/** A small simulator with a manual clock. */
async function start(t: ExecutionContext, options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: START },
    wallets: 10,
    coins: 40,
    othersPerSlot: 2,
    ...options,
  })
  t.teardown(() => simulator.close())
  return simulator
}

const confirmed = (slot: number) => (update: SubscribeUpdate) =>
  update.slot?.slot === String(slot) && update.slot.status === SlotStatus.SLOT_CONFIRMED

/** `slot/index` of each transaction among updates. */
function transactionIdsOf(updates: readonly SubscribeUpdate[]): string[] {
  return updates.flatMap(({ transaction }) =>
    transaction === undefined ? [] : [`${transaction.slot}/${transaction.transaction?.index}`],
  )
}

/** `slot/index` of each transaction that concerns a tracked wallet by the truth, in order. */
function trueTransactionIds(simulator: Simulator, from: number, to: number): string[] {
  const slots = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  return slots.flatMap((slot) =>
    simulator.truth(slot).transactions.map((index) => `${slot}/${index}`),
  )
}

/** Lets slots pass; returns what a subscription received up to the last one's confirmation. */
async function follow(
  simulator: Simulator,
  request: SubscribeRequest,
  slots: number,
): Promise<readonly SubscribeUpdate[]> {
  const stream = await collect(await (await connectYellowstone(simulator)).subscribe(request))
  const last = simulator.confirmedSlot + slots
  simulator.advance(slots)
  await stream.until(confirmed(last))
  stream.close()
  return stream.updates
}

const SLOTS = { slots: { filterByCommitment: true } }

test('a subscription by wallet gets every transaction that the truth knows, once, and nothing else', async (t) => {
  const simulator = await start(t)
  const updates = await follow(simulator, followWallets(simulator), 41)
  const expected = trueTransactionIds(simulator, START, START + 40)
  t.true(expected.length > 20)
  t.deepEqual(transactionIdsOf(updates), expected)
  t.deepEqual(
    updates.flatMap(({ blockMeta }) => (blockMeta === undefined ? [] : [Number(blockMeta.slot)])),
    Array.from({ length: 41 }, (_, i) => START + i),
  )
  t.is(updates.filter(({ account }) => account !== undefined).length, 41)
})

test('within a slot come its transactions, the price account, its meta and then its status', async (t) => {
  const simulator = await start(t)
  const updates = await follow(simulator, followWallets(simulator), 20)
  const kinds = updates.flatMap((update) => {
    if (update.transaction !== undefined) return [`${update.transaction.slot} 1`]
    if (update.account !== undefined) return [`${update.account.slot} 2`]
    if (update.blockMeta !== undefined) return [`${update.blockMeta.slot} 3`]
    return [`${update.slot?.slot} 4`]
  })
  t.deepEqual(kinds, [...kinds].sort())
})

test('an incoming transfer that names token accounts alone is found by its owner, not without', async (t) => {
  const simulator = await start(t, { wallets: 25, trackedPerSlot: 8 })
  const request = followWallets(simulator)
  const filter = request.transactions.wallets!
  const { tokenAccounts, ...plain } = filter
  t.is(tokenAccounts, TokenAccountExpansionControlFlag.BALANCE_CHANGED)
  const withOwners = transactionIdsOf(await follow(simulator, request, 60))
  const from = simulator.confirmedSlot - 59
  t.deepEqual(withOwners, trueTransactionIds(simulator, from, simulator.confirmedSlot))
  const named = new Set<string>()
  for (let slot = from; slot <= simulator.confirmedSlot; slot += 1) {
    for (const { txIndex } of simulator.truth(slot).balances) named.add(`${slot}/${txIndex}`)
  }
  const replayed = { ...request, transactions: { plain }, fromSlot: String(from) }
  const without = transactionIdsOf(await follow(simulator, replayed, 1))
  t.deepEqual(
    without.filter((id) => withOwners.includes(id)),
    withOwners.filter((id) => named.has(id)),
  )
  t.true(withOwners.length > named.size)
})

test('filters include, exclude, require, tell failed from successful, and by signature', async (t) => {
  const simulator = await start(t, { trackedPerSlot: 4 })
  const [first, second] = simulator.wallets
  const lists = { accountInclude: [], accountExclude: [], accountRequired: [] }
  const pumpfun = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
  const updates = await follow(
    simulator,
    {
      ...EMPTY_REQUEST,
      slots: SLOTS,
      transactions: {
        all: lists,
        either: { ...lists, accountInclude: [first!, second!] },
        both: { ...lists, accountRequired: [first!, pumpfun] },
        butPump: { ...lists, accountInclude: [first!], accountExclude: [pumpfun] },
        failed: { ...lists, failed: true },
        worked: { ...lists, failed: false },
        votes: { ...lists, vote: true },
      },
    },
    60,
  )
  const seen = { either: 0, both: 0, butPump: 0, failed: 0, worked: 0 }
  for (const { transaction, filters } of updates) {
    const info = transaction?.transaction
    if (info === undefined) continue
    const keys = accountKeysOf(info).map((key) => bs58.encode(key))
    const names = (key: string) => keys.includes(key)
    const expected = {
      either: names(first!) || names(second!),
      both: names(first!) && names(pumpfun),
      butPump: names(first!) && !names(pumpfun),
      failed: info.meta!.err !== undefined,
      worked: info.meta!.err === undefined,
    }
    for (const [name, wanted] of Object.entries(expected)) {
      t.is(filters.includes(name), wanted, name)
      if (wanted) seen[name as keyof typeof seen] += 1
    }
    t.true(filters.includes('all'))
    t.false(filters.includes('votes'))
  }
  for (const [name, count] of Object.entries(seen)) t.true(count > 0, name)
  const one = updates.find(({ transaction }) => transaction !== undefined)!.transaction!
  const signature = bs58.encode(one.transaction!.signature)
  const again = { ...EMPTY_REQUEST, slots: SLOTS, fromSlot: one.slot }
  const bySignature = { one: { ...lists, signature } }
  const found = transactionIdsOf(
    await follow(simulator, { ...again, transactions: bySignature }, 1),
  )
  t.deepEqual(found, [`${one.slot}/${one.transaction!.index}`])
})

test('a compressed account filter finds its wallets, by token owner too', async (t) => {
  const simulator = await start(t, { wallets: 25, trackedPerSlot: 4 })
  const set = new CompressedAccountFilterSet(1_000)
  for (const wallet of simulator.wallets) set.insert(bs58.decode(wallet))
  const request: SubscribeRequest = { ...followWallets(simulator), transactions: {} }
  const filter = set.toTransactionFilter()
  request.transactions = {
    wallets: { ...filter, tokenAccounts: TokenAccountExpansionControlFlag.BALANCE_CHANGED },
  }
  const ids = transactionIdsOf(await follow(simulator, request, 50))
  const expected = trueTransactionIds(simulator, START, START + 49)
  t.deepEqual(
    expected.filter((id) => !ids.includes(id)),
    [],
  )
  // False positives are few.
  t.true(ids.length <= expected.length * 1.2 + 2)
})

test('from_slot replays and goes on live without a gap; a restart replays the same', async (t) => {
  const simulator = await start(t)
  simulator.advance(50)
  const request = { ...followWallets(simulator), fromSlot: String(START + 5) }
  const bodies = (updates: readonly SubscribeUpdate[]) =>
    updates
      .filter(({ ping }) => ping === undefined)
      .map(({ createdAt: _, ...update }) => JSON.stringify(update))
  const replayed = await follow(simulator, request, 10)
  t.deepEqual(transactionIdsOf(replayed), trueTransactionIds(simulator, START + 5, START + 59))
  const restarted = await start(t)
  restarted.advance(50)
  t.deepEqual(bodies(await follow(restarted, request, 10)), bodies(replayed))
})

test('a slot before the replay window is OUT_OF_RANGE with the first available slot', async (t) => {
  const simulator = await start(t, { replaySlots: 20 })
  const client = await connectYellowstone(simulator)
  const request = { ...followWallets(simulator), fromSlot: String(START - 20) }
  const stream = await collect(await client.subscribe(request))
  const error = await stream.ended
  t.regex(
    String((error?.cause as Error | undefined)?.message),
    /broadcast from 404999980 is not available, last available: 404999981/,
  )
})

test('a subscription is replaced on the open stream; pings are answered; an empty filter counts', async (t) => {
  const simulator = await start(t)
  const stream = await collect(await (await connectYellowstone(simulator)).subscribe(EMPTY_REQUEST))
  simulator.advance(2)
  stream.write({ ...EMPTY_REQUEST, ping: { id: 42 } })
  await stream.until(({ pong }) => pong?.id === 42)
  t.is(stream.updates.filter(({ pong }) => pong === undefined).length, 0)
  stream.write({ ...EMPTY_REQUEST, blocksMeta: { metas: {} }, slots: { all: {} } })
  stream.write({ ...EMPTY_REQUEST, ping: { id: 43 } })
  await stream.until(({ pong }) => pong?.id === 43)
  simulator.advance(2)
  await stream.until(confirmed(START + 3))
  const metas = stream.updates.filter(({ blockMeta }) => blockMeta !== undefined)
  t.deepEqual(
    metas.map(({ filters }) => filters),
    [['metas'], ['metas']],
  )
  const statuses = stream.updates.flatMap(({ slot }) =>
    slot === undefined ? [] : [`${slot.slot} ${slot.status}`],
  )
  t.true(statuses.includes(`${START + 4} ${SlotStatus.SLOT_PROCESSED}`))
  stream.close()
})

test('commitment decides when data comes, and slot statuses which of them', async (t) => {
  const simulator = await start(t)
  const client = await connectYellowstone(simulator)
  const statusesOf = async (commitment: CommitmentLevel, filter: object) => {
    const request = {
      ...EMPTY_REQUEST,
      commitment,
      slots: { slots: filter },
      blocksMeta: { metas: {} },
    }
    const stream = await collect(await client.subscribe(request))
    return stream
  }
  const processed = await statusesOf(CommitmentLevel.PROCESSED, { interslotUpdates: true })
  const finalized = await statusesOf(CommitmentLevel.FINALIZED, { filterByCommitment: true })
  simulator.advance(34)
  await finalized.until(({ slot }) => slot?.slot === String(START + 2))
  await processed.until(
    ({ slot }) => slot?.slot === String(START + 34) && slot.status === SlotStatus.SLOT_PROCESSED,
  )
  const own = processed.updates.filter(({ slot }) => slot?.slot === String(START + 1))
  t.deepEqual(
    own.map(({ slot }) => slot!.status),
    [
      SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
      SlotStatus.SLOT_CREATED_BANK,
      SlotStatus.SLOT_COMPLETED,
      SlotStatus.SLOT_PROCESSED,
      SlotStatus.SLOT_CONFIRMED,
      SlotStatus.SLOT_FINALIZED,
    ],
  )
  t.is(processed.updates.filter(({ blockMeta }) => blockMeta !== undefined).length, 34)
  t.deepEqual(
    finalized.updates.map(({ slot, blockMeta }) => slot?.slot ?? `meta ${blockMeta?.slot}`),
    Array.from({ length: 34 }, (_, i) => START - 31 + i).flatMap((slot) => [
      `meta ${slot}`,
      String(slot),
    ]),
  )
  processed.close()
  finalized.close()
})

test('the version is returned; a wrong x-token is refused on every call', async (t) => {
  const simulator = await start(t, { xToken: 'right' })
  const client = await connectYellowstone(simulator, 'right')
  t.regex((await client.getVersion()).version, /yellowstone-grpc-geyser/)
  const wrong = await connectYellowstone(simulator, 'wrong')
  await t.throwsAsync(wrong.getVersion())
  const refusal = await t.throwsAsync(wrong.subscribe(EMPTY_REQUEST))
  t.regex(String((refusal?.cause as Error | undefined)?.message), /No valid auth token/)
})

test('a client that is too far behind is dropped with the error text of the plugin', async (t) => {
  const simulator = await start(t, { maxQueuedUpdates: 30, trackedPerSlot: 4 })
  const stream = await collect(
    await (await connectYellowstone(simulator)).subscribe(followWallets(simulator)),
  )
  // Slots pass synchronously, so that nothing can be written meanwhile.
  simulator.advance(700)
  const error = await stream.ended
  t.regex(String((error?.cause as Error | undefined)?.message), /lagged to send an update/)
})

/**
 * Follows like a correct client: keeps books by slot, and reconnects from the last whole slot, over
 * RPC where the server has forgotten.
 */
async function followHonestly(simulator: Simulator, until: number) {
  const candidates = new Map<number, Set<string>>()
  const blocks = new Map<number, number>()
  const ended = { cuts: 0, outOfRange: 0 }
  let whole = simulator.confirmedSlot
  const take = async (from: number, to: number) => {
    const slots = (await callPatiently(simulator, 'getBlocks', from, to, COMMITTED)) as number[]
    for (const slot of slots) {
      const block = (await callPatiently(simulator, 'getBlock', slot, BLOCK)) as {
        signatures: string[]
      }
      blocks.set(slot, block.signatures.length)
      candidates.set(slot, new Set(block.signatures.map((_, index) => `${slot}/${index}`)))
    }
  }
  let first = true
  while (whole < until) {
    const request = { ...followWallets(simulator), fromSlot: String(whole + 1) }
    const stream = await collect(
      await (await connectYellowstone(simulator)).subscribe(
        first ? followWallets(simulator) : request,
      ),
    )
    first = false
    let read = 0
    const digest = () => {
      for (; read < stream.updates.length; read += 1) {
        const { transaction, blockMeta, slot } = stream.updates[read]!
        if (transaction !== undefined) {
          const at = Number(transaction.slot)
          const id = `${at}/${transaction.transaction?.index}`
          candidates.set(at, (candidates.get(at) ?? new Set()).add(id))
        }
        if (blockMeta !== undefined) {
          blocks.set(Number(blockMeta.slot), Number(blockMeta.executedTransactionCount))
        }
        if (slot !== undefined) whole = Math.max(whole, Number(slot.slot))
      }
    }
    let over: Error | null | undefined
    void stream.ended.then((error) => {
      over = error
    })
    while (over === undefined && whole < until) {
      simulator.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.race([stream.pong(), stream.ended])
      digest()
    }
    digest()
    stream.close()
    if (over === undefined) break
    if (/is not available/.test(String((over?.cause as Error | undefined)?.message))) {
      ended.outOfRange += 1
      // Late transactions of earlier slots may have come with the slots that were missed.
      await take(whole - MOST_LATE, simulator.confirmedSlot)
      whole = simulator.confirmedSlot
    } else ended.cuts += 1
  }
  return { candidates, blocks, ended }
}

/** Slots by which a transaction may be late. */
const MOST_LATE = 12

const COMMITTED = { commitment: 'confirmed' }
const BLOCK = {
  ...COMMITTED,
  transactionDetails: 'signatures',
  maxSupportedTransactionVersion: 1,
  rewards: false,
}

async function callPatiently(simulator: Simulator, method: string, ...params: unknown[]) {
  for (;;) {
    const answer = await callRpc(simulator, method, ...params)
    if ((answer as { status?: number }).status !== 429) return answer
  }
}

for (const [name, trouble] of [
  [
    'each trouble of the stream but cuts',
    { ...ALL_TROUBLE, cuts: false, lostReplay: false, slowRpc: false },
  ],
  ['all trouble at once', { ...ALL_TROUBLE, slowRpc: false }],
] satisfies [string, Trouble][]) {
  test(`${name}: a client that keeps books by slot has the truth in the end`, async (t) => {
    const simulator = await start(t, { trouble, trackedPerSlot: 3 })
    const until = START + 300
    const { candidates, blocks, ended } = await followHonestly(simulator, until)
    let compared = 0
    for (let slot = START + 1; slot <= until - 20; slot += 1) {
      const produced =
        ((await callPatiently(simulator, 'getBlocks', slot, slot, COMMITTED)) as number[]).length >
        0
      // Ignores slots that were skipped or dead; indexes beyond the block are garbage.
      if (!produced) continue
      const wanted = trueTransactionIds(simulator, slot, slot)
      const got = candidates.get(slot) ?? new Set()
      t.deepEqual(
        wanted.filter((id) => !got.has(id)),
        [],
        `slot ${slot}`,
      )
      t.true((blocks.get(slot) ?? 0) >= wanted.length)
      compared += wanted.length
    }
    t.true(compared > 300)
    if (trouble.cuts) t.true(ended.cuts > 0 && ended.outOfRange > 0, JSON.stringify(ended))
  })
}

test('each kind of trouble occurs when it is on, and only then', async (t) => {
  const quiet = await start(t)
  const calm = await follow(quiet, followWallets(quiet), 80)
  t.is(new Set(transactionIdsOf(calm)).size, transactionIdsOf(calm).length)
  const trouble = {
    shuffle: true,
    duplicates: true,
    metaFirst: true,
    garbage: true,
    late: true,
    forks: true,
    skippedSlots: true,
  }
  const simulator = await start(t, { trouble, trackedPerSlot: 4 })
  const stream = await collect(
    await (await connectYellowstone(simulator)).subscribe({
      ...followWallets(simulator),
      slots: { slots: { interslotUpdates: true } },
    }),
  )
  simulator.advance(160)
  const last = START + 150
  await stream.until(
    ({ slot }) =>
      slot !== undefined && Number(slot.slot) >= last && slot.status === SlotStatus.SLOT_CONFIRMED,
  )
  const { updates } = stream
  const ids = transactionIdsOf(updates)
  t.true(new Set(ids).size < ids.length, 'duplicates')
  t.notDeepEqual([...ids].sort(), ids, 'shuffled')
  const malformed = updates.filter(
    ({ transaction: update }) =>
      update !== undefined &&
      (update.transaction?.transaction?.message === undefined ||
        update.transaction.meta === undefined),
  )
  t.true(malformed.length > 0, 'garbage')
  t.true(
    transactionsAfter(updates, ({ blockMeta }) => blockMeta?.slot),
    'after its meta',
  )
  const dead = updates.filter(({ slot }) => slot?.status === SlotStatus.SLOT_DEAD)
  t.true(dead.length > 5, 'forks')
  const seen = new Set(
    updates.flatMap(({ slot }) => (slot === undefined ? [] : [Number(slot.slot)])),
  )
  const skipped = Array.from({ length: 140 }, (_, i) => START + 2 + i).filter(
    (slot) => !seen.has(slot),
  )
  t.true(skipped.length > 5, 'skipped')
  t.true(
    transactionsAfter(updates, ({ slot }) =>
      slot?.status === SlotStatus.SLOT_CONFIRMED ? slot.slot : undefined,
    ),
    'late',
  )
  stream.close()
})

test('a transaction that the stream leaves out comes neither live nor in a replay; all others come', async (t) => {
  const trouble = { omittedSingly: true, omittedTwins: true, omittedWallets: true }
  const simulator = await start(t, { trouble, trackedPerSlot: 4 })
  const to = START + 400
  const live = await follow(simulator, followWallets(simulator), 401)
  const replay = await collect(
    await (await connectYellowstone(simulator)).subscribe({
      ...followWallets(simulator),
      fromSlot: String(START),
    }),
  )
  await replay.until(confirmed(to))
  replay.close()

  const kinds = new Set<string>()
  const expected = trueTransactionIds(simulator, START, to).filter((id) => {
    const [slot, index] = id.split('/').map(Number) as [number, number]
    const kind = simulator.omitted(slot).get(index)
    if (kind !== undefined) kinds.add(kind)
    return kind === undefined
  })
  t.deepEqual([...kinds].sort(), [...OMISSIONS].sort())
  t.deepEqual(transactionIdsOf(live), expected)
  t.deepEqual(transactionIdsOf(replay.updates), expected)
})

test('a wallet that is left out by request is silent from the next slot until it is asked for again', async (t) => {
  const simulator = await start(t, { trackedPerSlot: 4 })
  const wallet = simulator.wallets[0]!
  const request = { ...followWallets(simulator) }
  const stream = await collect(await (await connectYellowstone(simulator)).subscribe(request))
  simulator.advance(20)
  simulator.omit(wallet)
  const from = simulator.slot + 1
  simulator.advance(100)
  simulator.omit(null)
  const to = simulator.slot
  simulator.advance(20)
  await stream.until(confirmed(to + 19))
  stream.close()

  const left = Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((slot) =>
    [...simulator.omitted(slot).keys()].map((index) => `${slot}/${index}`),
  )
  t.true(left.length > 5)
  const all = trueTransactionIds(simulator, START, to + 19)
  t.deepEqual(
    transactionIdsOf(stream.updates),
    all.filter((id) => !left.includes(id)),
  )
})

/** Whether some transaction comes after the update that ends its slot. */
function transactionsAfter(
  updates: readonly SubscribeUpdate[],
  endedSlot: (update: SubscribeUpdate) => string | undefined,
): boolean {
  const ended = new Set<string>()
  return updates.some((update) => {
    const slot = endedSlot(update)
    if (slot !== undefined) ended.add(slot)
    return update.transaction !== undefined && ended.has(update.transaction.slot)
  })
}

test('slots follow the wall clock: a second simulator is on the same chain', async (t) => {
  const wallSlot = () => Math.floor((Date.now() - GENESIS_MS) / SLOT_MS)
  const before = wallSlot()
  const one = await startSimulator({ wallets: 5, coins: 20 })
  const other = await startSimulator({ wallets: 5, coins: 20 })
  t.teardown(() => Promise.all([one.close(), other.close()]))
  for (const { slot } of [one, other]) t.true(slot >= before - 1 && slot < wallSlot())
  t.deepEqual(one.market.block(before), other.market.block(before))
  t.is(one.market.timeOf(before), Math.floor((GENESIS_MS + before * SLOT_MS) / 1_000))
})
