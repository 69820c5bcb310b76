import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import type { Address } from '../../pipeline/domain/address.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { normalizeGrpc } from '../../pipeline/ingest/wire/normalize-grpc.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { openTestChdb } from '../../pipeline/testing/test-store.ts'
import { accountKeysOf } from './block.ts'
import { createChainShape } from './chain-shape.ts'
import { COMPRESSED_SLOTS, compressBefore } from './compressed-shape.ts'
import { fillWithHistory } from './fill-store.ts'
import { createMarket, type Market } from './market/market.ts'
import { CALM_MARKET } from './market/sizes.ts'
import { NO_TROUBLE } from './options.ts'
import { type Simulator, startSimulator } from './simulator.ts'
import { callRpc } from './testing/client.ts'

const START = 405_000_000

test('a compressed chain has a block a minute, each with the one before it as its parent', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000 }), fc.boolean(), (seed, troubled) => {
      const trouble = { skippedSlots: troubled, forks: troubled }
      const whole = createChainShape(seed, trouble)
      const shape = compressBefore(whole, START)
      const from = START - 4 * COMPRESSED_SLOTS
      const to = START + 40
      const blocks: number[] = []
      for (let slot = from; slot < to; slot += 1) {
        const next = shape.atOrAfter(slot)
        const isBlock = shape.kind(slot) === 'produced'
        if (slot >= START) t.is(shape.kind(slot), whole.kind(slot))
        t.is(next === slot, isBlock)
        const parent = blocks.at(-1)
        if (parent !== undefined) t.is(shape.parent(slot), parent)
        if (isBlock && parent !== undefined) t.is(shape.height(slot), shape.height(parent) + 1)
        // The whole chain has every block of the compressed one.
        if (isBlock) t.is(whole.kind(slot), 'produced')
        if (isBlock) blocks.push(slot)
      }
      t.is(blocks.filter((slot) => slot < START).length, 4)
    }),
    { numRuns: 5 },
  )
})

/** The market of a chain that is compressed before a slot. */
function open(before: number): Market {
  const shape = compressBefore(createChainShape(3, NO_TROUBLE), before)
  const compressed = { from: START - 180_000, before }
  return createMarket({ ...CALM_MARKET, seed: 3, wallets: 10, compressed }, shape)
}

test('a block of a compressed history is the beginning of the whole block', (t) => {
  const early = open(START)
  const late = open(START + 1_500)
  let shown = 0
  for (let slot = START - 1_500; slot < START + 2_400; slot += 1) {
    const isCompressed = slot < START + 1_500
    // An episode that would begin before the history is not played.
    if (!isCompressed && slot < START + 2_100) continue
    if (isCompressed && slot % COMPRESSED_SLOTS !== 0) continue
    const [all, some] = [early.truth(slot).events, late.truth(slot).events]
    t.deepEqual(some, isCompressed ? all.slice(0, some.length) : all)
    shown += some.length
  }
  t.true(shown > 20)
})

test('the decoder finds the truth of a compressed history, and balances continue', (t) => {
  const before = START + 900
  const market = open(before)
  const shape = compressBefore(createChainShape(3, NO_TROUBLE), before)
  const { wallets, coins } = market.universe
  const decoder = createDecoder(createWallets(wallets.map(({ key }) => key.address)))
  const decimals = new Map(coins.map(({ mint }) => [mint.key.address, mint.decimals]))
  const lamports = new Map<string, string>(wallets.map(({ key }) => [key.address, '']))
  const seen = { events: 0, balances: 0 }
  for (let slot = START - 60_000; slot < before + 600; slot = shape.atOrAfter(slot + 1)) {
    const block = market.block(slot)
    const decoded = block.transactions.flatMap((info) => {
      const { meta } = info
      accountKeysOf(info).forEach((bytes, index) => {
        const key = bs58.encode(bytes)
        const known = lamports.get(key)
        if (known === undefined) return
        if (known !== '') t.is(meta!.preBalances[index], known)
        lamports.set(key, meta!.postBalances[index]!)
        seen.balances += 1
      })
      const transaction = normalizeGrpc({ slot: String(slot), transaction: info })
      if (!('instructions' in transaction)) return []
      const result = decoder.decode(transaction, block.time, (mint: Address) => decimals.get(mint))
      return result.kind === 'decoded' ? result.records : []
    })
    const truth = market.truth(slot)
    t.deepEqual(decoded, truth.records)
    seen.events += truth.events.length
  }
  t.true(seen.events > 200 && seen.balances > 200)
})

test('RPC answers for the compressed history, from its first block to the newest', async (t) => {
  const simulator = await startSimulator({
    seed: 3,
    wallets: 10,
    historyHours: 18,
    historySlots: 900,
    clock: { kind: 'manual', startSlot: START + 70 },
  })
  t.teardown(() => simulator.close())
  const confirmed = { commitment: 'confirmed' } as const
  const whole = START - 1_500
  const first = START - 162_000
  t.is(await callRpc(simulator, 'getFirstAvailableBlock'), first)
  const blocks = (await callRpc(
    simulator,
    'getBlocks',
    first - 500,
    START + 70,
    confirmed,
  )) as number[]
  const minutes = (whole - first) / COMPRESSED_SLOTS
  t.deepEqual(
    blocks.slice(0, minutes + 2),
    Array.from({ length: minutes + 2 }, (_, at) =>
      at <= minutes ? first + at * COMPRESSED_SLOTS : whole + 1,
    ),
  )
  const { timeOf } = simulator.market
  for (const [at, slot] of blocks.entries()) {
    const { transactions } = simulator.truth(slot)
    const time = timeOf(slot)
    if (transactions.length === 0 || slot >= whole || at % 5 > 0) continue
    const options = { ...confirmed, transactionDetails: 'none', rewards: false }
    const block = (await callRpc(simulator, 'getBlock', slot, options)) as Record<string, unknown>
    if (at > 0) t.is(block.parentSlot, blocks[at - 1])
    t.is(block.blockTime, time)
    t.is(await callRpc(simulator, 'getBlockTime', slot), time)
  }
  const listed = await listPages(simulator, simulator.wallets[1]!)
  t.deepEqual(
    listed,
    blocks.toReversed().flatMap((slot) => meantFor(simulator, slot, 2)),
  )
  t.true(listed.length > 10 && listed.at(-1)!.slot < whole)
  const oldest = listed.at(-1)!
  const options = { ...confirmed, maxSupportedTransactionVersion: 1 }
  const told = (await callRpc(simulator, 'getTransaction', oldest.signature, options)) as {
    slot: number
    blockTime: number
  }
  t.deepEqual([told.slot, told.blockTime], [oldest.slot, oldest.blockTime])
  const skipped = (await callRpc(simulator, 'getBlockTime', first + 1)) as {
    error: { code: number }
  }
  t.is(skipped.error.code, -32_007)
  // A price for each block of the history.
  const prices = new Map(simulator.pastSolPrices.map(({ time, usdE9 }) => [time, usdE9]))
  for (const slot of blocks.slice(0, minutes)) t.true(prices.has(timeOf(slot)))
})

interface Listed {
  readonly signature: string
  readonly slot: number
  readonly blockTime: number
}

/** The transactions of a slot that name a wallet, newest first. */
function meantFor({ market }: Simulator, slot: number, wallet: number): Listed[] {
  return market
    .truth(slot)
    .balances.filter((record) => record.wallet === wallet)
    .map(({ txIndex }) => ({
      signature: bs58.encode(market.signatures.of(slot, txIndex)),
      slot,
      blockTime: market.timeOf(slot),
    }))
    .reverse()
}

/** The confirmed signatures of an address, read in pages of 30. */
async function listPages(simulator: Simulator, address: string): Promise<Listed[]> {
  const listed: Listed[] = []
  for (;;) {
    const page = (await callRpc(simulator, 'getSignaturesForAddress', address, {
      commitment: 'confirmed',
      limit: 30,
      ...(listed.length > 0 && { before: listed.at(-1)?.signature }),
    })) as Listed[]
    if (page.length === 0) return listed
    listed.push(...page.map(({ signature, slot, blockTime }) => ({ signature, slot, blockTime })))
  }
}

test('a stored day has wallets of each status, good and bad ones, and coins with many and no holders', async (t) => {
  const { store, remove } = await openTestChdb()
  t.teardown(remove)
  await migrate(store)
  const filled = await fillWithHistory(store, { hours: 26 })
  const statuses = await store.query<{ status: string; wallets: string; won: string }>(
    `SELECT status, count() AS wallets, countIf(pnl_lamports > 0) AS won FROM wallet_metrics FINAL
     GROUP BY status ORDER BY status`,
  )
  t.log(filled.swaps, statuses)
  const of = (status: string) => statuses.find((row) => row.status === status)
  t.true(Number(of('scored')?.wallets) >= 10)
  t.true(Number(of('review')?.wallets) >= 1)
  t.true(Number(of('disqualified')?.wallets) >= 1)
  const won = statuses.reduce((sum, row) => sum + Number(row.won), 0)
  t.true(won > 10 && won < CALM_MARKET.wallets)
  const [coins] = await store.query<Record<string, string>>(
    `SELECT countIf(holders >= 3) AS found, countIf(holders = 0) AS dead, count() AS coins, countIf(symbol != '') AS named,
       countIf(holders >= 3 AND now - oldest > 3600) AS held, countIf(unpriced > 0) AS unpriced
     FROM (SELECT base_mint, countIf(held > 0) AS holders, minIf(first, held > 0) AS oldest, sum(missing) AS unpriced FROM (
         SELECT base_mint, wallet, sum(if(side = 'buy', 1, -1) * toInt256(base_amount)) AS held, min(block_time) AS first,
           countIf(value_lamports IS NULL) AS missing
         FROM swaps FINAL GROUP BY base_mint, wallet)
       GROUP BY base_mint) AS held
     LEFT JOIN (SELECT mint, symbol FROM mints FINAL) AS named ON named.mint = held.base_mint
     CROSS JOIN (SELECT max(block_time) AS now FROM swaps) AS newest`,
  )
  t.log(coins)
  t.true(Number(coins?.found) >= 5 && Number(coins?.held) >= 5 && Number(coins?.dead) >= 3)
  t.is(coins?.named, coins?.coins)
  t.is(coins?.unpriced, '0')
})
