import { setTimeout as pause } from 'node:timers/promises'
import type { Simulator } from '../simulator/simulator.ts'
import type { Deployment } from '../whole-service/deployment.ts'
import type { Deployed } from './deployed.ts'
import { STALLED_MS, within } from './patience.ts'
import type { TrueChain } from './true-chain.ts'

/** The clock waits while storage is at least this many slots behind. */
const MAX_BEHIND = 200
/** Storage has caught up when it is fewer than this many slots behind. */
const NEAR = 30
/** The market's clock, with what it depends on. */
export interface MarketClock {
  readonly simulator: Simulator
  readonly deployed: Deployed
  readonly position: Position
  /** The first slot with a block. */
  readonly startSlot: number
  readonly tell: (line: string) => void
}

/**
 * Starts the market when the stream has a subscriber; lets slots pass until the first slot is
 * stored and `hasBegun`.
 */
export async function startMarket(
  clock: MarketClock,
  isReady: () => boolean,
  hasBegun: () => boolean,
): Promise<void> {
  const { simulator, position } = clock
  const isSo = () => position.slot !== null && hasBegun()
  let round = 0
  await wait(clock, 'the first slot to be stored and the first trade to be sent', isSo, () => {
    round += 1
    if (round % 3 === 0 && simulator.followers > 0 && isReady()) simulator.advance(1)
  })
}

/**
 * Lets slots pass as fast as the service stores them. While a process or server is down, slots pass
 * regardless.
 */
export async function runTo(clock: MarketClock, slot: number): Promise<void> {
  const { simulator, deployed, position, startSlot } = clock
  let movedAt = Date.now()
  let seen = position.slot
  while (simulator.slot < slot) {
    deployed.supervise()
    if (position.slot !== seen || deployed.away.size > 0) {
      seen = position.slot
      movedAt = Date.now()
    }
    if (Date.now() - movedAt > STALLED_MS)
      throw new Error(`storage has not moved past slot ${seen}`)
    const lost = deployed.away.has('all') || deployed.away.has('ingest')
    const behind = simulator.slot - (position.slot ?? startSlot)
    if (lost) simulator.advance(Math.min(20, slot - simulator.slot))
    else if (deployed.away.size > 0 || behind < MAX_BEHIND)
      simulator.advance(Math.min(4, slot - simulator.slot))
    await pause(lost ? 0 : deployed.away.size > 0 ? 30 : 8)
  }
}

/**
 * Waits until storage is near the newest slot; returns at once while a process or server is down.
 */
export async function catchUp(clock: MarketClock): Promise<void> {
  const { simulator, deployed, position } = clock
  if (deployed.away.size > 0) return
  await wait(
    clock,
    'storage to come near the newest slot',
    () => simulator.slot - (position.slot ?? 0) < NEAR,
  )
}

/**
 * Lets a slot pass each second until `work` is done, because some work waits for newer slots.
 * `what` names the work in errors.
 */
export async function tickUntil(
  clock: MarketClock,
  what: string,
  work: Promise<void>,
): Promise<void> {
  let over = false
  const done = work.finally(() => {
    over = true
  })
  done.catch(() => {}) // awaited below
  let round = 0
  await wait(
    clock,
    what,
    () => over,
    () => {
      round += 1
      if (round % 50 === 0) clock.simulator.advance(1)
    },
    2 * STALLED_MS,
  )
  await done
}

/**
 * Waits until `isSo`. Throws an error that names `what` after `ms`, or when a process has ended by
 * itself.
 */
async function wait(
  { deployed, position, simulator }: MarketClock,
  what: string,
  isSo: () => boolean,
  onRound: () => void = () => {},
  ms = STALLED_MS,
): Promise<void> {
  for (const deadline = Date.now() + ms; !isSo(); await pause(20)) {
    deployed.supervise()
    if (Date.now() > deadline)
      throw new Error(
        `waited ${ms / 1000} s for ${what}; stored slot ${position.slot}, newest slot ${simulator.slot}, down: [${[...deployed.away]}]`,
      )
    onRound()
  }
}

/**
 * Waits until storage has passed the tip and holds as much as the chain, and nothing else is
 * `missing`. Waits as long as something still becomes less. Slots pass slowly meanwhile, because
 * some work waits for newer ones. Returns what is missing when it gives up.
 */
export async function settle(
  clock: MarketClock,
  chain: TrueChain,
  wallets: number,
  missing: () => Promise<Readonly<Record<string, number>>>,
): Promise<string[]> {
  const { simulator, position, deployed, tell } = clock
  let least = Number.POSITIVE_INFINITY
  let lessAt = Date.now()
  for (let round = 1; ; round += 1) {
    deployed.supervise()
    chain.catchUp(wallets)
    const { records, unfolded } = await readStored(clock)
    const left: Record<string, number> = {
      records: chain.events.length + chain.balances.length + chain.links.length - records,
      'wallets unfolded': unfolded,
      slots: chain.tip - (position.slot ?? 0),
      ...(await within(STALLED_MS, 'what is missing', missing()).catch(() => ({ answers: 1 }))),
    }
    const sum = Object.values(left).reduce((total, count) => total + Math.max(count, 0), 0)
    // One more slot must pass: the effects of the last record are stored before the next slot is.
    if (sum === 0) {
      simulator.advance(1)
      chain.catchUp(wallets)
      await wait(clock, 'the last slot to be stored', () => (position.slot ?? 0) >= chain.tip)
      return []
    }
    if (sum < least) {
      least = sum
      lessAt = Date.now()
    }
    const told = Object.entries(left).map(([name, count]) => `${count} ${name}`)
    if (Date.now() - lessAt > STALLED_MS) return [`no progress; still missing: ${told.join(', ')}`]
    await pause(100)
    if (round % 100 === 0) tell(`settling; still missing: ${told.join(', ')}`)
    if (round % 20 === 0) simulator.advance(1)
  }
}

/**
 * Number of stored events and links (0 while storage does not answer), and of wallets whose
 * books must be recomputed.
 */
async function readStored({ deployed }: MarketClock) {
  const counts = [...['swaps', 'transfers', 'sol_transfers', 'sol_balances', 'token_links']].map(
    (table) => `(SELECT count() FROM ${table} FINAL)`,
  )
  const marked = '(SELECT count() FROM fold_snapshots FINAL WHERE format = 0)'
  const rows = await deployed
    .query<{ records: string; unfolded: string }>(
      `SELECT ${counts.join(' + ')} AS records, ${marked} AS unfolded`,
    )
    .catch(() => [])
  return { records: Number(rows[0]?.records ?? 0), unfolded: Number(rows[0]?.unfolded ?? 0) }
}

/** The newest stored slot, polled from `/status`; a service that is down does not matter. */
export class Position {
  slot: number | null = null
  /** The newest slot that is final. */
  finalized: number | null = null
  #closed = false

  constructor(deployment: Deployment) {
    void this.#watch(`http://127.0.0.1:${deployment.env.PORT}/status`)
  }

  close(): void {
    this.#closed = true
  }

  async #watch(url: string): Promise<void> {
    while (!this.#closed) {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(2000) })
        // The cast is safe: rule J4 defines this response.
        const { storage, finalized } = (await response.json()) as Partial<
          Record<'storage' | 'finalized', { slot: number | null }>
        >
        this.slot = storage?.slot ?? this.slot
        this.finalized = finalized?.slot ?? this.finalized
      } catch {
        // The service is down.
      }
      await pause(100)
    }
  }
}
