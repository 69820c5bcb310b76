import { hash32, type Random } from '../random.ts'
import {
  drawStoryPlan,
  type EpisodePlan,
  type Habits,
  STORIES_END,
  type StoryPlan,
} from './episode.ts'
import { ageOf, type Coin, type CoinLife, priceAt, type Wallet } from './universe.ts'

/** Slots of an hour. */
const HOUR = 9_000

/** Holdings count swaps alone, so that few coins are sent away here. */
export const CALM_HABITS: Habits = { plot: plotOfTemperament, gifts: 0.01, away: 0.01, exits: 0.4 }

/**
 * Habits of a market whose wallets differ. Some buy before prices rise, others always buy late, and
 * one of each desk trades short-lived coins all day. Young coins are in demand.
 */
function plotOfTemperament(plan: EpisodePlan, random: Random): StoryPlan {
  const { universe, desk, scale } = plan
  const wallet = pickWeighted(desk.wallets, random, (candidate) =>
    scale.byTheMinute
      ? activity(universe.seed, candidate)
      : isBot(universe.seed, candidate)
        ? 16
        : 1,
  )
  const skill = skillOf(universe.seed, wallet)
  const plots = Array.from({ length: skill === 0 ? 1 : 2 }, () => plotOf(plan, wallet, random))
  return plots.reduce((best, plot) =>
    (gain(plan, plot) - gain(plan, best)) * skill > 0 ? plot : best,
  )
}

/**
 * The life of a coin of this market, by its index. Of four coins, one is held for half a day and
 * one for about an hour.
 */
export function lifeOfTemperament(seed: number, index: number): CoinLife | null {
  const kind = index % 4
  if (kind < 2) return null
  const draw = (name: string) => hash32(seed, name, index) / 0x100000000
  const hours = kind === 2 ? 20 + 28 * draw('life') : 7 + 9 * draw('life')
  return {
    slots: Math.round(hours * HOUR),
    phase: Math.floor(hours * HOUR * draw('phase')),
    rise: 0.12 + 0.3 * draw('rise'),
    height: 0.25 + 0.75 * draw('height') ** 2,
  }
}

function plotOf(plan: EpisodePlan, wallet: Wallet, random: Random): StoryPlan {
  const { desk, scale, start } = plan
  if (!scale.byTheMinute) return { ...drawStoryPlan(plan, random), wallet }
  const begin = random.between(0, STORIES_END - 0.3)
  const length = random.between(0.25, STORIES_END - begin)
  const slot = start + Math.floor((begin + length * BUYING) * scale.slots)
  const coin = pickWeighted(desk.coins[scale.index]!, random, (one) => demand(one, slot))
  return { wallet, coin, begin, length, moments: 6 }
}

/** Fractions of a story's length in which mostly something is bought and sold. */
const BUYING = 0.2
const SELLING = 0.6

/** Demand for a coin. */
function demand({ life }: Coin, slot: number): number {
  if (life === null) return 1
  const age = ageOf(life, slot)
  if (age < 0.02 || age > 0.85) return 0.002
  return age < life.rise * 1.3 ? 1 : 0.15
}

/**
 * Logarithms of the ratio of the price at the sale, or at the end of the episode, to the price at
 * the purchase.
 */
function gain({ start, scale }: EpisodePlan, { coin, begin, length }: StoryPlan): number {
  const price = (share: number) => Math.log(priceAt(coin, start + Math.floor(share * scale.slots)))
  return (price(begin + length * SELLING) + price(STORIES_END)) / 2 - price(begin + length * BUYING)
}

/** Skill of a wallet: above zero it buys before prices rise, below zero it buys late. */
function skillOf(seed: number, { number }: Wallet): number {
  const drawn = hash32(seed, 'skill', number) % 100
  if (drawn < 45) return 1
  return drawn < 70 ? 0 : -1
}

function activity(seed: number, { number }: Wallet): number {
  return [0.3, 0.8, 1, 1.3, 1.6][hash32(seed, 'activity', number) % 5]!
}

function isBot(seed: number, { number }: Wallet): boolean {
  return (number - 1) % 5 === hash32(seed, 'bot', Math.floor((number - 1) / 5)) % 5
}

function pickWeighted<T>(items: readonly T[], random: Random, weight: (item: T) => number): T {
  const weights = items.map(weight)
  let left = random.float() * weights.reduce((sum, one) => sum + one, 0)
  for (const [at, item] of items.entries()) {
    left -= weights[at]!
    if (left < 0) return item
  }
  return items.at(-1)!
}
