import { setTimeout as pause } from 'node:timers/promises'
import type { Simulator } from '../simulator/simulator.ts'
import type { Deployment } from '../whole-service/deployment.ts'
import type { Deployed } from './deployed.ts'
import type { TrueChain } from './true-chain.ts'

/** The clock waits when storage is so far behind. */
const MAX_BEHIND = 200
/** Nearer than this storage has caught up. */
const NEAR = 30
/** So long storage may stand still: a busy machine takes a minute to start a process. */
export const STILL_MS = 300_000

/** What moves the market's time, and what it looks at. */
export interface Clock {
  readonly simulator: Simulator
  readonly deployed: Deployed
  readonly position: Position
  /** The first slot with a block. */
  readonly startSlot: number
  readonly tell: (line: string) => void
}

/** Lets the market begin when somebody follows it, and slots pass until the first is stored and `hasBegun`. */
export async function begin(
  { simulator, position }: Clock,
  isReady: () => boolean,
  hasBegun: () => boolean,
): Promise<void> {
  const deadline = Date.now() + STILL_MS
  while (position.slot === null || !hasBegun()) {
    if (Date.now() > deadline) throw new Error('nothing is stored')
    if (simulator.followers > 0 && isReady()) simulator.advance(1)
    await pause(50)
  }
}

/** Lets slots pass as fast as the service takes them; while something is away they pass without it. */
export async function runTo(
  { simulator, deployed, position, startSlot }: Clock,
  slot: number,
): Promise<void> {
  let movedAt = Date.now()
  let seen = position.slot
  while (simulator.slot < slot) {
    const [fallen] = deployed.fallen()
    if (fallen) throw new Error(`a process ended by itself\n${fallen.stderr().slice(-4000)}`)
    if (position.slot !== seen || deployed.away.size > 0) {
      seen = position.slot
      movedAt = Date.now()
    }
    if (Date.now() - movedAt > STILL_MS) throw new Error('storage stands still')
    const lost = deployed.away.has('all') || deployed.away.has('ingest')
    const behind = simulator.slot - (position.slot ?? startSlot)
    if (lost) simulator.advance(Math.min(20, slot - simulator.slot))
    else if (deployed.away.size > 0 || behind < MAX_BEHIND)
      simulator.advance(Math.min(4, slot - simulator.slot))
    await pause(lost ? 0 : deployed.away.size > 0 ? 30 : 8)
  }
}

/** Waits until storage is near the newest slot; not while something is away. */
export async function catchUp({ simulator, deployed, position }: Clock): Promise<void> {
  const isNear = () => simulator.slot - (position.slot ?? 0) < NEAR
  if (deployed.away.size > 0) return
  const [fault] = await until(isNear)
  if (fault !== undefined) throw new Error(fault)
}

/** Lets a slot pass each second until what was begun is done: some things wait for newer slots. */
export async function tickUntil({ simulator }: Clock, work: Promise<void>): Promise<void> {
  let over = false
  const done = work.finally(() => {
    over = true
  })
  done.catch(() => {}) // told below
  for (let round = 1; !over; round += 1) {
    await pause(100)
    if (round % 10 === 0) simulator.advance(1)
  }
  await done
}

/**
 * Waits until storage has passed the tip and holds as much as the chain, and nothing else is `missing`, as long as it all becomes less; slots go on
 * slowly, because some things wait for newer ones. Gives what is wrong when it stops before.
 */
export async function settle(
  clock: Clock,
  chain: TrueChain,
  wallets: number,
  missing: () => Promise<Readonly<Record<string, number>>>,
): Promise<string[]> {
  const { simulator, position, tell } = clock
  let least = Number.POSITIVE_INFINITY
  let lessAt = Date.now()
  for (let round = 1; ; round += 1) {
    chain.catchUp(wallets)
    const stored = await storedRecords(clock)
    const left: Record<string, number> = {
      records: chain.events.length + chain.balances.length - stored,
      slots: chain.tip - (position.slot ?? 0),
      ...(await missing().catch(() => ({ answers: 1 }))),
    }
    const sum = Object.values(left).reduce((total, count) => total + Math.max(count, 0), 0)
    // Once everything is there one slot more has to pass: what follows from the last record is stored before the next slot is.
    if (sum === 0) {
      simulator.advance(1)
      chain.catchUp(wallets)
      return until(() => (position.slot ?? 0) >= chain.tip)
    }
    if (sum < least) {
      least = sum
      lessAt = Date.now()
    }
    const told = Object.entries(left).map(([name, count]) => `${count} ${name}`)
    if (Date.now() - lessAt > STILL_MS) return [`nothing moves: missing are ${told.join(', ')}`]
    await pause(100)
    if (round % 100 === 0) tell(`settling: missing are ${told.join(', ')}`)
    if (round % 20 === 0) simulator.advance(1)
  }
}

async function until(isSo: () => boolean): Promise<string[]> {
  for (const deadline = Date.now() + STILL_MS; !isSo(); await pause(20))
    if (Date.now() > deadline) return ['storage stands still']
  return []
}

/** Events and balances that storage holds; 0 while it does not answer. */
async function storedRecords({ deployed }: Clock): Promise<number> {
  const counts = ['swaps', 'transfers', 'sol_transfers', 'sol_balances'].map(
    (table) => `(SELECT count() FROM ${table} FINAL)`,
  )
  const rows = await deployed
    .query<{ records: string }>(`SELECT ${counts.join(' + ')} AS records`)
    .catch(() => [])
  return Number(rows[0]?.records ?? 0)
}

/** The newest stored slot, as `/status` tells it; asked again and again, because the service comes and goes. */
export class Position {
  slot: number | null = null
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
        const { storage } = (await response.json()) as { storage?: { slot: number | null } } // decisions J4
        this.slot = storage?.slot ?? this.slot
      } catch {
        // It is away.
      }
      await pause(100)
    }
  }
}
