import { CommitmentLevel, SlotStatus, type SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../pipeline/domain/base58.ts'
import type { Fork } from './forks.ts'
import type { Trouble } from './options.ts'
import { type Simulator, startSimulator } from './simulator.ts'
import {
  callRpc,
  collect,
  connectYellowstone,
  EMPTY_REQUEST,
  followWallets,
} from './testing/client.ts'

const START = 405_000_000
const REVERSED = { replacedBlocks: true, vanishedBlocks: true }
const ALL = { accountInclude: [], accountExclude: [], accountRequired: [] }
const AT = {
  confirmed: { commitment: 'confirmed', maxSupportedTransactionVersion: 1, rewards: false },
  finalized: { commitment: 'finalized', maxSupportedTransactionVersion: 1, rewards: false },
}

async function start(t: ExecutionContext, trouble: Partial<Trouble>): Promise<Simulator> {
  const simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: START },
    wallets: 10,
    coins: 40,
    trackedPerSlot: 3,
    othersPerSlot: 1,
    trouble,
  })
  t.teardown(() => simulator.close())
  return simulator
}

/** Everything of a commitment: block metas, transactions, and the statuses of slots. */
const everything = (commitment: CommitmentLevel) => ({
  ...EMPTY_REQUEST,
  commitment,
  slots: { slots: { filterByCommitment: true } },
  blocksMeta: { metas: {} },
  transactions: { all: ALL },
})

/** What a block shows of itself: its hash, parent, and signatures in order. */
interface Shown {
  readonly blockhash: string
  readonly parent: number
  readonly signatures: readonly string[]
}

function blocksOf(updates: readonly SubscribeUpdate[]): Map<number, Shown> {
  const signatures = new Map<string, string[]>()
  const blocks = new Map<number, Shown>()
  for (const { transaction, blockMeta } of updates) {
    if (transaction?.transaction !== undefined) {
      const own = signatures.get(transaction.slot) ?? []
      signatures.set(transaction.slot, own)
      own[Number(transaction.transaction.index)] = encodeBase58(transaction.transaction.signature)
    }
    if (blockMeta !== undefined)
      blocks.set(Number(blockMeta.slot), {
        blockhash: blockMeta.blockhash,
        parent: Number(blockMeta.parentSlot),
        signatures: signatures.get(blockMeta.slot) ?? [],
      })
  }
  return blocks
}

async function rpcBlock(
  simulator: Simulator,
  slot: number,
  at: keyof typeof AT,
): Promise<Shown | 'absent'> {
  const config = { ...AT[at], transactionDetails: 'signatures' }
  const block = (await callRpc(simulator, 'getBlock', slot, config)) as {
    readonly blockhash: string
    readonly parentSlot: number
    readonly signatures: readonly string[]
    readonly error?: unknown
  }
  if (block.error !== undefined) return 'absent'
  return { blockhash: block.blockhash, parent: block.parentSlot, signatures: block.signatures }
}

const forksOf = (simulator: Simulator, from: number, to: number): Fork[] =>
  Array.from({ length: to - from + 1 }, (_, at) => simulator.forkAt(from + at)).flatMap(
    (fork, at) => (fork?.first === from + at ? [fork] : []),
  )

test('a fork is confirmed on the stream and in RPC, and the finalized chain has other blocks', async (t) => {
  const simulator = await start(t, REVERSED)
  const client = await connectYellowstone(simulator)
  const confirmed = await collect(await client.subscribe(everything(CommitmentLevel.CONFIRMED)))
  const finalized = await collect(await client.subscribe(everything(CommitmentLevel.FINALIZED)))
  const confirmedByRpc = new Map<number, Shown | 'absent'>()
  for (let slot = START + 1; slot <= START + 300; slot += 1) {
    simulator.advance(1)
    const { confirmedSlot } = simulator
    if (simulator.forkAt(confirmedSlot) !== null)
      confirmedByRpc.set(confirmedSlot, await rpcBlock(simulator, confirmedSlot, 'confirmed'))
  }
  simulator.advance(60)
  const isAt = (status: SlotStatus) => (update: SubscribeUpdate) =>
    Number(update.slot?.slot ?? 0) >= START + 300 && update.slot?.status === status
  await confirmed.until(isAt(SlotStatus.SLOT_CONFIRMED))
  await finalized.until(isAt(SlotStatus.SLOT_FINALIZED))
  const [seen, final] = [blocksOf(confirmed.updates), blocksOf(finalized.updates)]
  const forks = forksOf(simulator, START + 2, START + 290)
  t.deepEqual([...new Set(forks.map(({ kind }) => kind))].sort(), ['replaced', 'vanished'])
  for (const { kind, first, second } of forks) {
    for (const slot of [first, second]) {
      const shown = seen.get(slot)
      t.deepEqual(shown, confirmedByRpc.get(slot) as Shown)
      t.not(shown?.blockhash, final.get(slot)?.blockhash)
      t.deepEqual(await rpcBlock(simulator, slot, 'finalized'), final.get(slot) ?? 'absent')
    }
    t.is(final.has(first), kind === 'replaced')
    t.is(seen.get(second)?.parent, first)
    const all = (blocks: Map<number, Shown>) =>
      [first, second].flatMap((slot) => [...(blocks.get(slot)?.signatures ?? [])]).sort()
    t.deepEqual(all(seen), all(final))
  }
  const statuses = confirmed.updates.map(({ slot }) => Number(slot?.slot ?? 0))
  const differing = statuses.filter(
    (slot) =>
      slot > 0 && slot <= START + 290 && seen.get(slot)?.blockhash !== final.get(slot)?.blockhash,
  )
  t.deepEqual(
    differing,
    forks.flatMap(({ first, second }) => [first, second]),
  )
  const replaced = forks.filter(({ kind }) => kind === 'replaced').map(({ first }) => first)
  const has = (a: Map<number, Shown>, b: Map<number, Shown>) =>
    replaced.some((slot) =>
      a.get(slot)?.signatures.some((one) => !b.get(slot)?.signatures.includes(one)),
    )
  t.true(has(seen, final) && has(final, seen), 'a fork has other transactions and lacks some')
  confirmed.close()
  finalized.close()
})

test('the finalized chain with forks is the chain without them, and the truth', async (t) => {
  const blocks = []
  for (const trouble of [{ ...REVERSED }, { forks: true }]) {
    const simulator = await start(t, trouble)
    const client = await connectYellowstone(simulator)
    const stream = await collect(await client.subscribe(everything(CommitmentLevel.FINALIZED)))
    simulator.advance(200)
    await stream.until(({ slot }) => Number(slot?.slot ?? 0) >= START + 150)
    stream.close()
    const found = blocksOf(stream.updates)
    blocks.push([...found].filter(([slot]) => slot <= START + 150))
    for (let slot = START; slot <= START + 150; slot += 1)
      for (const { signature, txIndex } of simulator.shape.kind(slot) === 'produced'
        ? simulator.truth(slot).events
        : [])
        t.is(found.get(slot)?.signatures[txIndex], signature)
  }
  t.deepEqual(blocks[0], blocks[1])
})

test('a replay and RPC show a fork until it is given up, and then the finalized blocks', async (t) => {
  const simulator = await start(t, REVERSED)
  const isShown = ({ first }: Fork) => first > simulator.finalizedSlot
  const from = START + 10
  simulator.advance(150)
  while (!forksOf(simulator, from, simulator.confirmedSlot - 1).some(isShown)) simulator.advance(1)
  const { confirmedSlot } = simulator
  const client = await connectYellowstone(simulator)
  const request = { ...everything(CommitmentLevel.CONFIRMED), fromSlot: String(from) }
  const stream = await collect(await client.subscribe(request))
  await stream.until(({ slot }) => Number(slot?.slot ?? 0) >= confirmedSlot)
  stream.close()
  const replayed = blocksOf(stream.updates)
  const listed = await callRpc(simulator, 'getBlocks', from, confirmedSlot, AT.confirmed)
  t.deepEqual([...replayed.keys()], listed)
  const forks = forksOf(simulator, from, confirmedSlot)
  const shown = forks.filter(isShown)
  t.true(shown.length < forks.length)
  for (const slot of replayed.keys())
    t.deepEqual(await rpcBlock(simulator, slot, 'confirmed'), replayed.get(slot))
  for (const { first, second } of shown)
    for (const slot of [first, second].filter((one) => one <= confirmedSlot))
      for (const signature of replayed.get(slot)?.signatures ?? []) {
        const found = await callRpc(simulator, 'getTransaction', signature, AT.confirmed)
        t.is((found as { slot: number }).slot, slot)
      }
  const [wallet] = simulator.wallets
  const config = { commitment: 'confirmed', limit: 500 }
  const list = await callRpc(simulator, 'getSignaturesForAddress', wallet, config)
  const named = (list as { slot: number; signature: string }[]).filter(({ slot }) => slot >= from)
  t.true(named.length > 10)
  for (const { slot, signature } of named)
    t.true(replayed.get(slot)?.signatures.includes(signature), `slot ${slot}`)
})

test('a subscription by wallet gets the transactions of a fork like any other', async (t) => {
  const simulator = await start(t, REVERSED)
  const client = await connectYellowstone(simulator)
  const all = await collect(await client.subscribe(everything(CommitmentLevel.CONFIRMED)))
  const own = await collect(await client.subscribe(followWallets(simulator)))
  simulator.advance(100)
  const last = ({ slot }: SubscribeUpdate) => Number(slot?.slot ?? 0) >= simulator.confirmedSlot
  await Promise.all([all.until(last), own.until(last)])
  const known = blocksOf(all.updates)
  let ofForks = 0
  for (const [slot, { signatures }] of blocksOf(own.updates)) {
    const found = signatures.filter((signature) => signature !== undefined)
    if (simulator.forkAt(slot) !== null) ofForks += found.length
    for (const signature of found) t.true(known.get(slot)?.signatures.includes(signature))
  }
  t.true(ofForks > 0)
  all.close()
  own.close()
})
