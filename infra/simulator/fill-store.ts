import { blockIdOf } from '../../pipeline/domain/block-id.ts'
import type { SlotRecords, WalletRecord } from '../../pipeline/domain/slot.ts'
import { createSolPrices } from '../../pipeline/ingest/sol-price.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { addTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { mintRow } from '../../pipeline/workers/facts/mint-row.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { createChainShape } from './chain-shape.ts'
import { COMPRESSED_SLOTS, compressBefore } from './compressed-shape.ts'
import { createMarket, type Market } from './market/market.ts'
import { compressedSlots, solPricesOf } from './market/past.ts'
import { TOKEN_2022 } from './market/programs.ts'
import { CALM_MARKET } from './market/sizes.ts'
import type { Coin } from './market/universe.ts'
import { NO_TROUBLE } from './options.ts'

/** The history that was stored. */
export interface FilledHistory {
  readonly market: Market
  readonly firstSlot: number
  readonly lastSlot: number
  /** Unix seconds of the first and the last block. */
  readonly firstTime: number
  readonly lastTime: number
  readonly swaps: number
}

/** Maximum number of slots on the log that are not stored yet. */
const MOST_AHEAD = 400

/**
 * Stores a compressed history of `hours` hours, a block per minute, in an empty store that has its
 * schema. It stores what a service would have stored that had followed the chain from the first
 * block: events, books, prices, mint facts and progress. No servers run, and transaction bytes are
 * left out. The same `seed` and `endSlot` give the same rows. A day takes a few seconds.
 */
export async function fillWithHistory(
  store: Store,
  options: { readonly hours: number; readonly seed?: number; readonly endSlot?: number },
): Promise<FilledHistory> {
  const { hours, seed = 1, endSlot = 405_000_000 } = options
  const slots = compressedSlots(endSlot, 0, hours)
  const shape = compressBefore(createChainShape(seed, NO_TROUBLE), slots.before)
  const market = createMarket({ ...CALM_MARKET, seed, compressed: slots }, shape)
  const { wallets, coins } = market.universe
  const addresses = wallets.map((wallet) => wallet.key.address)
  await addTrackedWallets(store, addresses, [], market.timeOf(slots.from))
  const past = solPricesOf(market, { ...slots, to: slots.before })
  const prices = createSolPrices(past)
  const deps = { logger: createLogger('silent'), registry: createRegistry() }
  const log = createMemoryLog(deps)
  const going = new AbortController()
  let bug: unknown
  const onBug = (error: unknown) => {
    bug ??= error
    going.abort()
  }
  const fold = await startFold({ ...deps, store, log, onBug })
  const stored: Stored = { traded: new Set(), swaps: 0, last: slots.from - COMPRESSED_SLOTS }
  try {
    for (let slot = slots.from; slot < slots.before; slot = shape.atOrAfter(slot + 1)) {
      await log.appendSlot(recordsOf(market, slot, prices, stored))
      if (((slot - slots.from) / COMPRESSED_SLOTS) % MOST_AHEAD === 0)
        await log.settled('fold', going.signal)
    }
    await log.settled('fold', going.signal)
  } catch (error) {
    throw bug ?? error
  } finally {
    await fold.stop()
    await log.close()
  }
  const { traded, swaps, last } = stored
  const lastTime = market.timeOf(last)
  const rows = coins.flatMap((coin) =>
    traded.has(coin.mint.key.address) ? [factsOf(coin, lastTime)] : [],
  )
  await store.insert('mints', rows)
  return {
    market,
    swaps,
    lastTime,
    firstSlot: slots.from,
    lastSlot: last,
    firstTime: market.timeOf(slots.from),
  }
}

interface Stored {
  readonly traded: Set<string>
  swaps: number
  /** The last slot. */
  last: number
}

/** Returns the records of a slot as ingest appends them, and adds them to the history. */
function recordsOf(
  market: Market,
  slot: number,
  prices: ReturnType<typeof createSolPrices>,
  stored: Stored,
): SlotRecords {
  const blockTime = market.timeOf(slot)
  const solPrice = prices.at(blockTime, COMPRESSED_SLOTS)
  const records = market.truth(slot).records.map((record): WalletRecord => {
    if (record.kind !== 'swap') return record
    stored.traded.add(record.baseMint)
    stored.swaps += 1
    const solPriceUsdE9 = record.quoteMint === null ? null : (solPrice?.usdE9 ?? null)
    return { ...record, solPriceUsdE9 }
  })
  const marker = {
    slot,
    parent: stored.last,
    blockTime,
    solPrice,
    blockId: blockIdOf(market.blockhash(slot)),
    finalized: slot,
  }
  stored.last = slot
  return { marker, records }
}

/** The mint row of a coin, fetched at a time in unix seconds. */
function factsOf(coin: Coin, time: number) {
  const { key, decimals, program } = coin.mint
  const text = { symbol: coin.symbol, name: coin.name }
  const is2022 = program === TOKEN_2022
  const mint = {
    decimals,
    supply: coin.supply,
    text: is2022 ? text : null,
    program: is2022 ? ('token_2022' as const) : ('spl_token' as const),
  }
  return mintRow(key.address, null, { mint, metaplex: is2022 ? null : text }, time * 1000)
}
