import { setTimeout as pause } from 'node:timers/promises'
import { FINALIZE_DELAY_SLOTS } from '../simulator/grpc/slot-stream.ts'
import { SLOT_MS } from '../simulator/market/slot-time.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { countStored } from './compare.ts'
import type { Deployed } from './deployed.ts'
import type { MarketTimes } from './market-times.ts'
import { STALLED_MS, within } from './patience.ts'
import type { TrueChain } from './true-chain.ts'

/** The clock waits while storage is at least this many blocks behind. */
const MAX_BEHIND = 200
/** Storage has caught up when it is fewer than this many blocks behind. */
const NEAR = 30
/** Slots between two looks at what is missing; each look costs the service several queries. */
const ROUND_SLOTS = 3
/** What is counted while storage does not answer. */
const NOTHING_STORED = { records: 0, unfolded: 0 }
/** Pause after slots became final; the service tries again within this time what needed them. */
const FINAL_PAUSE_MS = 6000

/** The market's clock, with what it depends on. */
export interface MarketClock {
  readonly simulator: Simulator
  readonly deployed: Deployed
  readonly position: Position
  readonly times: MarketTimes
  /** The first slot with a block. */
  readonly startSlot: number
  /** Slots from one block to the next. */
  readonly stride: number
  readonly tell: (line: string) => void
}

/** Lets slots pass at once. */
function pass({ simulator, times }: MarketClock, slots: number): void {
  simulator.advance(slots)
  times.note(simulator.slot, Date.now())
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
  const { simulator, position, stride } = clock
  const isSo = () => position.slot !== null && hasBegun()
  let round = 0
  await wait(clock, 'the first slot to be stored and the first trade to be sent', isSo, () => {
    round += 1
    if (round % 3 === 0 && simulator.followers > 0 && isReady()) pass(clock, stride)
  })
}

/**
 * Lets slots pass as fast as the service stores them, but one in `slotMs` at most. While a process
 * or server is down, slots pass regardless.
 */
export async function runTo(clock: MarketClock, slot: number, slotMs = 2): Promise<void> {
  const { simulator, deployed, position, startSlot, stride } = clock
  let movedAt = Date.now()
  let seen = position.slot
  while (simulator.slot < slot) {
    deployed.supervise()
    if (position.slot !== seen || deployed.isHalted) {
      seen = position.slot
      movedAt = Date.now()
    }
    if (Date.now() - movedAt > STALLED_MS)
      throw new Error(`storage has not moved past slot ${seen}`)
    const lost = deployed.isHalted && deployed.isDeaf
    const behind = simulator.slot - (position.slot ?? startSlot)
    if (lost) pass(clock, Math.min(20 * stride, slot - simulator.slot))
    else if (deployed.isHalted || behind < MAX_BEHIND * stride)
      pass(clock, Math.min(stride * Math.ceil(8 / slotMs), slot - simulator.slot))
    await pause(lost ? 0 : deployed.isHalted ? 30 : Math.max(8, slotMs))
  }
}

/**
 * Waits until storage is near the newest slot; returns at once while a process or server is down. A
 * slot passes each second: without one, a standby could not tell that it has to take over.
 */
export async function catchUp(clock: MarketClock): Promise<void> {
  const { simulator, deployed, position, stride } = clock
  if (deployed.isHalted) return
  const isNear = () => simulator.slot - (position.slot ?? 0) < NEAR * stride
  await wait(clock, 'storage to come near the newest slot', isNear, eachSecond(clock))
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
  await wait(clock, what, () => over, eachSecond(clock), 2 * STALLED_MS)
  await done
}

/** Lets a slot pass in each second of a wait. */
function eachSecond(clock: MarketClock): () => void {
  let round = 0
  return () => {
    round += 1
    if (round % 50 === 0) pass(clock, clock.stride)
  }
}

/**
 * Waits until `isSo`, which needs newer slots to be final (rule K9). Finality moves at once, and
 * then stands still, because some RPC calls must be answered at one slot. `what` names the wait in
 * errors.
 */
export async function waitForFinality(
  clock: MarketClock,
  what: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  for (const deadline = Date.now() + STALLED_MS; ; ) {
    await catchUp(clock)
    await runTo(clock, clock.simulator.slot + FINALIZE_DELAY_SLOTS + 2)
    for (const pausedAt = Date.now(); Date.now() - pausedAt < FINAL_PAUSE_MS; await pause(1000))
      if (await isSo()) return
    if (Date.now() > deadline) throw new Error(`waited ${STALLED_MS / 1000} s for ${what}`)
  }
}

/**
 * Waits until `isSo`. Throws an error that names `what` after `ms` without progress of an
 * operator's command, or when a process has ended by itself.
 */
async function wait(
  { deployed, position, simulator }: MarketClock,
  what: string,
  isSo: () => boolean,
  onRound: () => void = () => {},
  ms = STALLED_MS,
): Promise<void> {
  for (const startedAt = Date.now(); !isSo(); await pause(20)) {
    deployed.supervise()
    if (Date.now() > Math.max(startedAt, deployed.progressedAt) + ms)
      throw new Error(
        `waited ${ms / 1000} s for ${what}; stored slot ${position.slot}, newest slot ${simulator.slot}, down: [${[...deployed.away]}]`,
      )
    onRound()
  }
}

/**
 * Waits until storage has passed the tip and holds as much as the chain, and nothing else is
 * `missing`. Waits as long as something still becomes less. Slots pass at the pace of a real chain
 * meanwhile, because some work waits until newer ones are final. Returns what is missing when it
 * gives up.
 */
export async function settle(
  clock: MarketClock,
  chain: TrueChain,
  wallets: number,
  missing: () => Promise<Readonly<Record<string, number>>>,
): Promise<string[]> {
  const { simulator, position, deployed, stride, tell } = clock
  let least = Number.POSITIVE_INFINITY
  let lessAt = Date.now()
  for (let round = 1; ; round += 1) {
    deployed.supervise()
    chain.catchUp(wallets)
    const { records, unfolded } = await countStored(deployed.query).catch(() => NOTHING_STORED)
    const left: Record<string, number> = {
      records: chain.events.length + chain.balances.length + chain.links.length - records,
      'wallets unfolded': unfolded,
      slots: chain.tip - (position.slot ?? 0),
      ...(await within(STALLED_MS, 'what is missing', missing()).catch(() => ({ answers: 1 }))),
    }
    const sum = Object.values(left).reduce((total, count) => total + Math.max(count, 0), 0)
    // One more slot must pass: the effects of the last record are stored before the next slot is.
    if (sum === 0) {
      pass(clock, stride)
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
    if (round % 10 === 0) tell(`settling; still missing: ${told.join(', ')}`)
    const isNear = simulator.slot - (position.slot ?? 0) < NEAR * stride
    if (isNear || round % 5 === 0) pass(clock, ROUND_SLOTS * stride)
    await pause(ROUND_SLOTS * SLOT_MS)
  }
}

/** The newest stored slot, polled from `/status`; a service that is down does not matter. */
export class Position {
  slot: number | null = null
  /** The newest slot that is final. */
  finalized: number | null = null
  #closed = false

  /** `ports`: of the APIs. */
  constructor(ports: readonly number[]) {
    for (const port of ports) void this.#watch(`http://127.0.0.1:${port}/status`)
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
