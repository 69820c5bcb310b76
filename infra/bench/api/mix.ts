import { createRandom } from '../../simulator/random.ts'
import { MINTS, SEEDED_WALLETS } from './seed.ts'

/** Values of the service under test that paths need. */
export interface PathValues {
  readonly mints: readonly string[]
  /** Cursors of `/trades`. */
  readonly cursors: readonly string[]
  /** Number of tracked wallets; default: that of a seeded database. */
  readonly wallets?: number
}

const HOT_SHARE = 0.9

/**
 * The mix: 90% hot responses (wallet list, leaderboard and metrics, held tokens, first page of
 * trades), 10% others, each for another wallet, mint or page. The same arguments give the same
 * list.
 */
export function requestMix(
  count: number,
  { mints, cursors, wallets = SEEDED_WALLETS }: PathValues,
): string[] {
  const random = createRandom(count)
  const wallet = () => `W${1 + random.below(wallets)}`
  const mint = () => random.pick(mints)
  const hot = [
    () => `/wallets?page=${1 + random.below(10)}`,
    () => `/wallets?sort=pnl&period=30d&page=${1 + random.below(3)}`,
    () => `/wallets/${wallet()}/metrics`,
    () => `/tokens/held?page=${1 + random.below(3)}`,
    () => '/trades',
  ]
  const others = [
    () => `/tokens/${mint()}`,
    () => `/tokens/${mint()}/swaps`,
    () => `/tokens/${mint()}/wallet-aggregates`,
    () => `/wallets/${wallet()}/holdings`,
    () => `/wallets/${wallet()}/positions`,
    () => `/wallets/${wallet()}/pnl`,
    () => `/wallets/holdings?page=${1 + random.below(20)}`,
    () => `/trades?cursor=${random.pick(cursors)}`,
    () => `/search?q=${wallet()}`,
    () => `/search?q=${mint()}`,
  ]
  return Array.from({ length: count }, () => random.pick(random.chance(HOT_SHARE) ? hot : others)())
}

/** Numbers of the mints that paths ask for: enough to tell cached responses from others. */
export const SOME_MINTS = Array.from({ length: 2000 }, (_, at) => (at * 25) % MINTS)
