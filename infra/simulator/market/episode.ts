import { addTo } from '../memo.ts'
import { createRandom, type Random } from '../random.ts'
import { DeskLedger } from './desk-ledger.ts'
import { associatedTokenAccount } from './key.ts'
import { wsolAccount } from './native.ts'
import { USDC_MINT, WSOL_MINT } from './programs.ts'
import type { MarketAction, MarketScene } from './scene.ts'
import { blockTimeOf } from './slot-time.ts'
import { convert, fillRequest, rotate, routeOverSol, swapInPrivate, swapOnVenue } from './trades.ts'
import { closeHolding, handSol, moveSol, receiveToken, sendToken, wrapSol } from './transfers.ts'
import {
  type Coin,
  priceAt,
  type Universe,
  USDC_TOKEN,
  usdcAccountOf,
  type Wallet,
} from './universe.ts'
import type { PoolBalances } from './venues/pool.ts'

/**
 * A group of up to five tracked wallets that trade the same coins, and occasionally with each
 * other.
 */
export interface Desk {
  readonly index: number
  readonly wallets: readonly Wallet[]
  /** Coins by scale; no coin is on two scales. */
  readonly coins: readonly (readonly Coin[])[]
}

/** A length of episodes, and the number of stories in each. */
export interface Scale {
  readonly index: number
  readonly slots: number
  readonly stories: number
  /**
   * Whether its transactions are only in the first blocks of minutes, which a compressed history
   * has too.
   */
  readonly byTheMinute: boolean
}

/**
 * Everything that a desk does in a range of slots on one scale. The desk's wallets hold the same at
 * its end as at its beginning.
 */
export interface Episode {
  readonly start: number
  readonly end: number
  /** Actions by slot, in order. */
  readonly actions: ReadonlyMap<number, readonly MarketAction[]>
  /**
   * The difference between a wallet's lamports, or its raw USDC, and what it holds at the
   * beginning, before the first transaction of a slot. By the key id of the wallet or of its USDC
   * account.
   */
  relativeBefore(id: string, slot: number): bigint
}

/** The inputs of an episode. */
export interface EpisodePlan {
  readonly universe: Universe
  readonly pools: ReadonlyMap<string, PoolBalances>
  readonly desk: Desk
  readonly scale: Scale
  readonly start: number
  /** The first slot with a block at or after this one. */
  atOrAfter(slot: number): number
  readonly habits: Habits
}

/** How wallets behave. */
export interface Habits {
  /** Chooses the wallet, the coin and the time of a story; times are fractions of the episode. */
  plot(plan: EpisodePlan, random: Random): StoryPlan
  /**
   * Fraction of stories in which part of a position is given away, and fraction of leftovers that
   * are sent away instead of sold.
   */
  readonly gifts: number
  readonly away: number
  /**
   * Fraction of stories that end with a sale of everything. The rest is sold when the episode ends.
   */
  readonly exits: number
}

/** The wallet, coin and time of a story. */
export interface StoryPlan {
  readonly wallet: Wallet
  readonly coin: Coin
  readonly begin: number
  readonly length: number
  /** Number of times that are drawn within the length; actions take the earliest of them. */
  readonly moments: number
}

interface Step {
  readonly at: number
  readonly wallet: Wallet
  act(scene: MarketScene): MarketAction | null
}

/**
 * Plays an episode from its beginning: a pure function of the universe's seed, the desk, the scale
 * and the start.
 */
export function playEpisode(plan: EpisodePlan): Episode {
  const { universe, desk, scale, start } = plan
  const end = start + scale.slots
  const random = createRandom(universe.seed, 'episode', desk.index, scale.index, start)
  const relative = new Set(desk.wallets.map((wallet) => wallet.key.id))
  const ledger = new DeskLedger(plan.pools, relative)
  const steps = [
    ...Array.from({ length: scale.stories }, () => story(plan, random)).flat(),
    ...desk.wallets.flatMap((wallet) => ending(plan, wallet, random)),
  ].sort((a, b) => a.at - b.at)
  const actions = new Map<number, MarketAction[]>()
  const history = new Map<string, { slot: number; amount: bigint }[]>()
  const cells = desk.wallets.flatMap((wallet) => [wallet.key, usdcAccountOf(wallet.key)])
  for (const wallet of desk.wallets) {
    const token = { mint: USDC_TOKEN, owner: wallet.key, amount: 0n }
    ledger.grant(usdcAccountOf(wallet.key), 2_039_280n, token)
  }
  let last = end - 1
  while (plan.atOrAfter(last) > last) last -= 1
  for (const step of steps) {
    const slot = Math.min(plan.atOrAfter(start + Math.floor(step.at * scale.slots)), last)
    ledger.slot = slot
    const scene = { universe, ledger, slot, time: blockTimeOf(slot), random }
    const action = step.act(scene)
    if (action === null) continue
    addTo(actions, slot, action)
    for (const { id } of cells) {
      const after = action.draft.after.get(id)
      if (after !== undefined)
        addTo(history, id, { slot, amount: after.token?.amount ?? after.lamports })
    }
  }
  return {
    start,
    end,
    actions,
    relativeBefore: (id, slot) =>
      history.get(id)?.findLast((entry) => entry.slot < slot)?.amount ?? 0n,
  }
}

/** Fraction of an episode after which stories are over and positions are closed. */
export const STORIES_END = 0.92

/** Draws the wallet, the coin and the time uniformly. */
export function drawStoryPlan({ desk, scale }: EpisodePlan, random: Random): StoryPlan {
  const wallet = random.pick(desk.wallets)
  const coin = random.pick(desk.coins[scale.index]!)
  const begin = random.between(0, STORIES_END - 0.2)
  return { wallet, coin, begin, length: random.between(0.05, STORIES_END - begin), moments: 12 }
}

/** Habits that are the same for all wallets. */
export const BUSY_HABITS: Habits = { plot: drawStoryPlan, gifts: 0.08, away: 0.15, exits: 0.8 }

/** The actions of one story: mostly a position from its first buy to its last sell. */
function story(plan: EpisodePlan, random: Random): Step[] {
  const { desk, scale } = plan
  const { wallet, coin, begin, length, moments } = plan.habits.plot(plan, random)
  const times = Array.from({ length: moments }, () => begin + random.float() * length).sort()
  let used = 0
  const step = (act: (scene: MarketScene) => MarketAction | null, who = wallet): Step => ({
    at: times[used++ % times.length]!,
    wallet: who,
    act,
  })
  const form = random.float()
  if (form < 0.06) return moneyStory(plan, wallet, random, step)
  const steps: Step[] = []
  if (form < 0.16) {
    const amount = BigInt(Math.round(Number(coin.supply) * random.between(1e-6, 1e-4)))
    steps.push(step((scene) => receiveToken(scene, wallet, coin.mint, amount)))
  }
  if (form > 0.9) {
    const amount = tradeSize(wallet, random)
    steps.push(step((scene) => buy(scene, wallet, coin, amount, true)))
  }
  if (form > 0.12) {
    const buys = 1 + random.below(3)
    for (let i = 0; i < buys; i += 1) {
      const amount = tradeSize(wallet, random)
      steps.push(step((scene) => buy(scene, wallet, coin, amount, false)))
    }
  }
  if (form > 0.2 && form < 0.2 + plan.habits.gifts) {
    const to = random.chance(0.6) ? random.pick(desk.wallets) : null
    const percent = BigInt(20 + random.below(60))
    steps.push(step((scene) => give(scene, wallet, coin, percent, to)))
  }
  const sells = random.below(3)
  for (let i = 0; i < sells; i += 1) {
    const percent = BigInt(15 + random.below(70))
    steps.push(step((scene) => sell(scene, wallet, coin, percent)))
  }
  if (form > 0.3 && form < 0.36) {
    const to = random.pick(desk.coins[scale.index]!)
    steps.push(step((scene) => rotateInto(scene, wallet, coin, to)))
  }
  if (form > 0.36 && form < 0.42) {
    const maker = random.pick(desk.wallets)
    const purse = tradeSize(maker, random) * 2n
    // A wallet has one wrapped-SOL account, so that only one scale may use it.
    if (scale.index === 0 && maker !== wallet) {
      steps.push(
        step((scene) => (isRich(scene, maker) ? wrapSol(scene, maker, purse) : null), maker),
        step((scene) => sellTo(scene, wallet, maker, coin)),
      )
    }
  }
  if (random.chance(plan.habits.exits)) steps.push(step((scene) => sell(scene, wallet, coin, 100n)))
  return steps
}

/**
 * Returns a wallet to its initial balances: sells coins or sends them away, then evens out USDC and
 * SOL.
 */
function ending(plan: EpisodePlan, wallet: Wallet, random: Random): Step[] {
  const { desk, scale } = plan
  const coins = desk.coins[scale.index]!
  const steps = coins.map((coin, index): Step => {
    const away = random.chance(plan.habits.away)
    return {
      at: STORIES_END + 0.05 * ((index + random.float()) / coins.length),
      wallet,
      act(scene) {
        const account = associatedTokenAccount(wallet.key, coin.mint.key, coin.mint.program)
        if (scene.ledger.tokenAccount(account) === null) return null
        const held = holding(scene, wallet, coin)
        if (held === 0n) return closeHolding(scene, wallet, account)
        if (away || held < 10_000n) return sendToken(scene, wallet, coin.mint, held, null)
        return sell(scene, wallet, coin, 100n)
      },
    }
  })
  const even = (at: number): Step => ({
    at,
    wallet,
    act(scene) {
      const surplus = scene.ledger.lamports(wallet.key)
      if (surplus > SIGNATURE_FEE) return moveSol(scene, wallet, 'out', surplus - SIGNATURE_FEE)
      if (surplus > 0n) return moveSol(scene, wallet, 'out', 1n)
      return surplus < 0n ? moveSol(scene, wallet, 'in', -surplus) : null
    },
  })
  const evenUsdc: Step = {
    at: 0.974,
    wallet,
    act(scene) {
      const surplus = scene.ledger.tokenAccount(usdcAccountOf(wallet.key))!.amount
      if (surplus > 0n) return sendToken(scene, wallet, USDC_TOKEN, surplus, null)
      return surplus < 0n ? receiveToken(scene, wallet, USDC_TOKEN, -surplus) : null
    },
  }
  const unwrapped: Step = { at: 0.972, wallet, act: (scene) => unwrap(scene, wallet) }
  return [...steps, unwrapped, evenUsdc, even(0.976), even(0.985)]
}

const SIGNATURE_FEE = 5_000n

/** Closes the wallet's wrapped-SOL account if it is open. */
function unwrap(scene: MarketScene, wallet: Wallet): MarketAction | null {
  const account = wsolAccount(wallet.key)
  return scene.ledger.tokenAccount(account) && closeHolding(scene, wallet, account)
}

/**
 * Moves money without a trade: SOL in and out, between wallets, wrapped for a while, or converted
 * into USDC and back.
 */
function moneyStory(
  plan: EpisodePlan,
  wallet: Wallet,
  random: Random,
  step: (act: (scene: MarketScene) => MarketAction | null) => Step,
): Step[] {
  const lamports = tradeSize(wallet, random)
  const form = random.below(4)
  if (form === 0) {
    return [
      step((scene) => moveSol(scene, wallet, 'in', lamports)),
      step((scene) => moveSol(scene, wallet, 'out', lamports / 2n)),
    ]
  }
  if (form === 1) {
    const to = random.pick(plan.desk.wallets)
    return to === wallet ? [] : [step((scene) => handSol(scene, wallet, to, lamports))]
  }
  // A wallet has one wrapped-SOL account, so that only one scale may use it.
  if (form === 2 && plan.scale.index === 0) {
    return [
      step((scene) => (isRich(scene, wallet) ? wrapSol(scene, wallet, lamports * 3n) : null)),
      step((scene) => unwrap(scene, wallet)),
    ]
  }
  return [
    step((scene) => (isRich(scene, wallet) ? convert(scene, wallet, 'sell', lamports) : null)),
    step((scene) => {
      const usdc = BigInt(
        Math.round(Number(lamports) * priceAt(scene.universe.pricePool, scene.slot) * 0.9),
      )
      return isRich(scene, wallet) ? convert(scene, wallet, 'buy', usdc) : null
    }),
  ]
}

/**
 * Whether a wallet has spent less than a third of its SOL and of its USDC; otherwise it buys
 * nothing.
 */
function isRich(scene: MarketScene, wallet: Wallet): boolean {
  return (
    scene.ledger.lamports(wallet.key) > -wallet.baseLamports / 3n &&
    scene.ledger.tokenAccount(usdcAccountOf(wallet.key))!.amount > -wallet.baseUsdc / 3n
  )
}

function buy(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  lamports: bigint,
  refuse: boolean,
): MarketAction | null {
  if (!isRich(scene, wallet)) return null
  // A wallet that holds a hundredth of the supply buys no more, so that pools stay deep enough for
  // every sale.
  if (holding(scene, wallet, coin) > coin.supply / 100n) return null
  const usdc = BigInt(Math.round(Number(lamports) * priceAt(scene.universe.pricePool, scene.slot)))
  if (coin.quote.key === USDC_MINT) return swapOnVenue(scene, wallet, coin, 'buy', usdc, refuse)
  const form = refuse ? 1 : scene.random.float()
  if (form < 0.04) return swapInPrivate(scene, wallet, coin, 'buy', lamports)
  if (form < 0.25 && isRoutable(coin)) return routeOverSol(scene, wallet, coin, 'buy', usdc)
  return swapOnVenue(scene, wallet, coin, 'buy', lamports, refuse)
}

function sell(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  percent: bigint,
): MarketAction | null {
  const amount = (holding(scene, wallet, coin) * percent) / 100n
  if (amount < 10_000n) return null
  const form = scene.random.float()
  if (coin.quote.key === WSOL_MINT) {
    if (form < 0.04) return swapInPrivate(scene, wallet, coin, 'sell', amount)
    if (form < 0.25 && isRoutable(coin)) return routeOverSol(scene, wallet, coin, 'sell', amount)
  }
  return swapOnVenue(scene, wallet, coin, 'sell', amount)
}

/** Sends a part of a holding to a wallet of the desk, or to an untracked wallet. */
function give(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  percent: bigint,
  to: Wallet | null,
): MarketAction | null {
  const held = holding(scene, wallet, coin)
  if (held < 100n || to === wallet) return null
  return sendToken(scene, wallet, coin.mint, (held * percent) / 100n, to)
}

/** Swaps half of one coin's holding into another coin. */
function rotateInto(scene: MarketScene, wallet: Wallet, from: Coin, to: Coin): MarketAction | null {
  const amount = holding(scene, wallet, from) / 2n
  const poor = amount < 10_000n || holding(scene, wallet, to) > to.supply / 100n
  if (poor || from === to || !isRoutable(from) || !isRoutable(to)) return null
  return rotate(scene, wallet, from, to, amount)
}

/** Sells part of a position to a wallet of the same desk, which pays in wrapped SOL. */
function sellTo(scene: MarketScene, taker: Wallet, maker: Wallet, coin: Coin): MarketAction | null {
  const kept = scene.ledger.tokenAccount(wsolAccount(maker.key))?.amount ?? 0n
  if (coin.quote.key !== WSOL_MINT || kept === 0n) return null
  const affordable = BigInt(Math.floor((Number(kept) / priceAt(coin, scene.slot)) * 0.9))
  const third = holding(scene, taker, coin) / 3n
  const amount = third < affordable ? third : affordable
  if (amount < 10_000n) return null
  return fillRequest(scene, taker, maker, coin, amount)
}

/** Whether the market's Jupiter routes use the coin's pool. */
function isRoutable(coin: Coin): boolean {
  return coin.quote.key === WSOL_MINT && coin.venue !== 'pumpfun'
}

function holding(scene: MarketScene, wallet: Wallet, coin: Coin): bigint {
  const account = associatedTokenAccount(wallet.key, coin.mint.key, coin.mint.program)
  return scene.ledger.tokenAccount(account)?.amount ?? 0n
}

/** 0.1% to 2% of the wallet's initial SOL, in lamports. */
function tradeSize(wallet: Wallet, random: Random): bigint {
  const share = Math.round(random.between(0.001, 0.02) * 1e6)
  return (wallet.baseLamports * BigInt(share)) / 1_000_000n
}
