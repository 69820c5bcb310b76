import { MINTS, WALLETS } from './seed.ts'

/** What the service under test knows that a path needs. */
export interface Known {
  readonly mints: readonly string[]
  /** Cursors of `/trades`. */
  readonly cursors: readonly string[]
}

const HOT_SHARE = 0.9

/**
 * The mix: 90% hot answers (wallet list and metrics, held tokens, first page of trades), 10% others, each of these for another wallet, mint or page. The
 * same list for the same numbers.
 */
export function mix(count: number, { mints, cursors }: Known): string[] {
  const random = generator(count)
  const pick = (below: number) => Math.floor(random() * below)
  const wallet = () => `W${1 + pick(WALLETS)}`
  const mint = () => mints[pick(mints.length)]
  const hot = [
    () => `/wallets?page=${1 + pick(10)}`,
    () => `/wallets/${wallet()}/metrics`,
    () => `/tokens/held?page=${1 + pick(3)}`,
    () => '/trades',
  ]
  const others = [
    () => `/tokens/${mint()}/swaps`,
    () => `/tokens/${mint()}/wallet-aggregates`,
    () => `/wallets/${wallet()}/holdings`,
    () => `/wallets/holdings?page=${1 + pick(20)}`,
    () => `/trades?cursor=${cursors[pick(cursors.length)]}`,
  ]
  return Array.from({ length: count }, () => {
    const kinds = random() < HOT_SHARE ? hot : others
    return kinds[pick(kinds.length)]?.() ?? ''
  })
}

/** mulberry32: a small generator of numbers from 0 to 1, the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Numbers of the mints that paths ask for: as many as tell apart what is cached from what is not. */
export const SOME_MINTS = Array.from({ length: 2000 }, (_, at) => (at * 25) % MINTS)
