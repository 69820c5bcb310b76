import { createRandom } from '../random.ts'
import type { Desk, Scale } from './episode.ts'
import { associatedTokenAccount } from './key.ts'
import type { MarketOptions } from './market-options.ts'
import { wsolAccount } from './native.ts'
import { type Universe, usdcAccountOf } from './universe.ts'

const WALLETS_PER_DESK = 5
const SHORT_SLOTS = 128
const LONG_SLOTS = 2_048
/** Transactions of an average story; the number of stories follows from it. */
const ACTIONS_PER_STORY = 4

/**
 * Scales of a market with a compressed history: four minutes, three hours and half a day. The first
 * has as many stories as `trackedPerSlot` asks for, and is not in the compressed blocks.
 */
const CALM_SCALES = [
  { slots: 600, storiesPerDesk: null },
  { slots: 27_000, storiesPerDesk: 8 },
  { slots: 108_000, storiesPerDesk: 42 },
] as const

/** Assigns the tracked wallets to desks of five, each with its coins by scale. */
export function createDesks(universe: Universe, isCalm: boolean): Desk[] {
  const count = Math.ceil(universe.wallets.length / WALLETS_PER_DESK)
  return Array.from({ length: count }, (_, index): Desk => {
    const random = createRandom(universe.seed, 'desk', index)
    const drawn = random.shuffle([...universe.coins])
    const ofKinds = (...kinds: number[]) => drawn.filter((coin) => kinds.includes(coin.index % 4))
    return {
      index,
      wallets: universe.wallets.slice(index * WALLETS_PER_DESK, (index + 1) * WALLETS_PER_DESK),
      // Long positions use every fourth coin, so that no coin is on two scales.
      coins: isCalm
        ? [ofKinds(0, 1).slice(0, 12), ofKinds(3).slice(0, 8), ofKinds(2).slice(0, 10)]
        : [ofKinds(0, 1, 2).slice(0, 12), ofKinds(3).slice(0, 4)],
    }
  })
}

/** The scales of a market, by index. `desks` is the number of desks. */
export function createScales(options: MarketOptions, desks: number, isCalm: boolean): Scale[] {
  const perDesk = options.trackedPerSlot / Math.max(1, desks)
  const storiesOf = (rate: number, slots: number) =>
    Math.max(1, Math.round((rate * slots) / ACTIONS_PER_STORY))
  if (isCalm) {
    return CALM_SCALES.map(({ slots, storiesPerDesk }, index) => ({
      index,
      slots,
      byTheMinute: storiesPerDesk !== null,
      stories: storiesPerDesk ?? storiesOf(perDesk, slots),
    }))
  }
  const longStories = WALLETS_PER_DESK * 2
  const longRate = (longStories * ACTIONS_PER_STORY) / LONG_SLOTS
  const shortRate = Math.max(0, perDesk - longRate)
  return [
    {
      index: 0,
      slots: SHORT_SLOTS,
      stories: storiesOf(shortRate, SHORT_SLOTS),
      byTheMinute: false,
    },
    { index: 1, slots: LONG_SLOTS, stories: longStories, byTheMinute: false },
  ]
}

/** Finds the desk of an account. */
export interface DeskIndex {
  /** The desk that owns a wallet or token account, by key id; null for any other account. */
  find(keyId: string): Desk | null
}

/** Indexes the desks' wallets at once, and their token accounts when one is first looked up. */
export function createDeskIndex(desks: readonly Desk[]): DeskIndex {
  const byKey = new Map(
    desks.flatMap((desk) => desk.wallets.map((wallet) => [wallet.key.id, desk] as const)),
  )
  let hasTokenAccounts = false
  return {
    find(keyId) {
      if (!hasTokenAccounts && !byKey.has(keyId)) {
        hasTokenAccounts = true
        for (const desk of desks) for (const id of tokenAccountIds(desk)) byKey.set(id, desk)
      }
      return byKey.get(keyId) ?? null
    },
  }
}

function* tokenAccountIds(desk: Desk): Iterable<string> {
  for (const { key } of desk.wallets) {
    for (const { mint } of desk.coins.flat())
      yield associatedTokenAccount(key, mint.key, mint.program).id
    yield usdcAccountOf(key).id
    yield wsolAccount(key).id
  }
}
