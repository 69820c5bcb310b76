import { createRandom, type Random } from '../random.ts'
import {
  type Action,
  closeEmpty,
  moveSol,
  receiveToken,
  type Scene,
  sendToken,
  swapOnVenue,
} from './actions.ts'
import { DeskLedger } from './desk-ledger.ts'
import { associatedTokenAccount } from './key.ts'
import type { Coin, Universe, Wallet } from './universe.ts'
import type { PoolAccount } from './venues/pool.ts'

/** Some wallets that trade the same coins and now and then with each other. */
export interface Desk {
  readonly index: number
  readonly wallets: readonly Wallet[]
  /** By scale: no coin is in two of them. */
  readonly coins: readonly (readonly Coin[])[]
}

/** How long episodes last, and how many stories each has. */
export interface Scale {
  readonly index: number
  readonly slots: number
  readonly stories: number
}

/** Everything that a desk does in a stretch of slots on one scale. It begins and ends with the wallets as they are at rest. */
export interface Episode {
  readonly start: number
  readonly end: number
  /** By slot, in order. */
  readonly actions: ReadonlyMap<number, readonly Action[]>
  /** Lamports of a wallet, relative to what it has at rest, before the slot's first transaction. */
  relativeBefore(wallet: Wallet, slot: number): bigint
}

/** What an episode is made from. */
export interface EpisodePlan {
  readonly universe: Universe
  readonly pools: ReadonlyMap<string, PoolAccount>
  readonly desk: Desk
  readonly scale: Scale
  readonly start: number
  /** This slot, or the next one with a block. */
  atOrAfter(slot: number): number
  timeOf(slot: number): number
}

interface Step {
  readonly at: number
  readonly wallet: Wallet
  act(scene: Scene): Action | null
}

/** Carries an episode out from its beginning: a pure function of the universe's seed, the desk, the scale and the start. */
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
  const actions = new Map<number, Action[]>()
  const history = new Map<string, { slot: number; lamports: bigint }[]>()
  let last = end - 1
  while (plan.atOrAfter(last) > last) last -= 1
  for (const step of steps) {
    const slot = Math.min(plan.atOrAfter(start + Math.floor(step.at * scale.slots)), last)
    ledger.slot = slot
    const scene = { ledger, slot, time: plan.timeOf(slot), random, strangers: universe.strangers }
    const action = step.act(scene)
    if (action !== null) {
      const list = actions.get(slot)
      if (list === undefined) actions.set(slot, [action])
      else list.push(action)
      for (const wallet of desk.wallets) {
        const after = action.draft.after.get(wallet.key.id)
        if (after === undefined) continue
        const known = history.get(wallet.key.id)
        if (known === undefined) history.set(wallet.key.id, [{ slot, lamports: after.lamports }])
        else known.push({ slot, lamports: after.lamports })
      }
    }
  }
  return {
    start,
    end,
    actions,
    relativeBefore(wallet, slot) {
      let found = 0n
      for (const entry of history.get(wallet.key.id) ?? []) {
        if (entry.slot >= slot) break
        found = entry.lamports
      }
      return found
    },
  }
}

/** Share of an episode after which stories are over and everything is brought home. */
const CURTAIN = 0.92

/** One thing a wallet is up to: mostly a position from its first buy to its last sell. */
function story(plan: EpisodePlan, random: Random): Step[] {
  const { desk, scale } = plan
  const wallet = random.pick(desk.wallets)
  const coin = random.pick(desk.coins[scale.index]!)
  const begin = random.between(0, CURTAIN - 0.2)
  const length = random.between(0.05, CURTAIN - begin)
  const times = Array.from({ length: 12 }, () => begin + random.float() * length).sort()
  let used = 0
  const step = (act: (scene: Scene) => Action | null, who = wallet): Step => ({
    at: times[used++ % times.length]!,
    wallet: who,
    act,
  })
  const form = random.float()
  if (form < 0.08) {
    const lamports = tradeSize(wallet, random)
    return [
      step((scene) => moveSol(scene, wallet, 'in', lamports)),
      step((scene) => moveSol(scene, wallet, 'out', lamports / 2n)),
    ]
  }
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
  if (form > 0.2 && form < 0.28) {
    const to = random.chance(0.6) ? random.pick(desk.wallets) : null
    const percent = BigInt(20 + random.below(60))
    steps.push(
      step((scene) => {
        const held = holding(scene, wallet, coin)
        if (held < 100n || to === wallet) return null
        return sendToken(scene, wallet, coin.mint, (held * percent) / 100n, to)
      }),
    )
  }
  const sells = random.below(3)
  for (let i = 0; i < sells; i += 1) {
    const percent = BigInt(15 + random.below(70))
    steps.push(step((scene) => sell(scene, wallet, coin, percent)))
  }
  if (random.chance(0.8)) steps.push(step((scene) => sell(scene, wallet, coin, 100n)))
  return steps
}

/** What brings a wallet home: coins sold or sent away, then its SOL made even. */
function ending(plan: EpisodePlan, wallet: Wallet, random: Random): Step[] {
  const { desk, scale } = plan
  const coins = desk.coins[scale.index]!
  const steps = coins.map((coin, index): Step => {
    const away = random.chance(0.15)
    return {
      at: CURTAIN + 0.05 * ((index + random.float()) / coins.length),
      wallet,
      act(scene) {
        const account = associatedTokenAccount(wallet.key, coin.mint.key, coin.mint.program)
        if (scene.ledger.tokenAccount(account) === null) return null
        const held = holding(scene, wallet, coin)
        if (held === 0n) return closeEmpty(scene, wallet, account)
        if (away || held < 100n) return sendToken(scene, wallet, coin.mint, held, null)
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
  return [...steps, even(0.975), even(0.985)]
}

const SIGNATURE_FEE = 5_000n

function buy(
  scene: Scene,
  wallet: Wallet,
  coin: Coin,
  amount: bigint,
  refuse: boolean,
): Action | null {
  // A wallet that has put most of its money to work waits.
  if (scene.ledger.lamports(wallet.key) < -wallet.baseLamports / 3n) return null
  // So does one that holds a hundredth of all there is: pools stay deep enough for every sale.
  if (holding(scene, wallet, coin) > coin.supply / 100n) return null
  return swapOnVenue(scene, wallet, coin, 'buy', amount, refuse)
}

function sell(scene: Scene, wallet: Wallet, coin: Coin, percent: bigint): Action | null {
  const amount = (holding(scene, wallet, coin) * percent) / 100n
  return amount < 100n ? null : swapOnVenue(scene, wallet, coin, 'sell', amount)
}

function holding(scene: Scene, wallet: Wallet, coin: Coin): bigint {
  const account = associatedTokenAccount(wallet.key, coin.mint.key, coin.mint.program)
  return scene.ledger.tokenAccount(account)?.amount ?? 0n
}

/** 0.1% to 2% of what the wallet has, in lamports. */
function tradeSize(wallet: Wallet, random: Random): bigint {
  const share = Math.round(random.between(0.001, 0.02) * 1e6)
  return (wallet.baseLamports * BigInt(share)) / 1_000_000n
}
