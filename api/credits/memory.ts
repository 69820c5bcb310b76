import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import {
  type Account,
  type Balance,
  type BlockGrant,
  type BlockRenewal,
  type Charge,
  compareStreamIds,
  type LedgerTotal,
  METER_LIMITS,
  type Meter,
  type MeterLimits,
  type RolledUp,
  STREAM_START,
  type StreamId,
  type StreamPosition,
  type UsageRange,
} from './meter.ts'

/**
 * Creates the meter of a single process. It is lost with the process, and loaded again from the
 * ledger.
 */
export function createMemoryMeter(
  limits: MeterLimits = METER_LIMITS,
  now: () => number = Date.now,
): Meter {
  return new MemoryMeter(limits, now)
}

interface State {
  funded: number
  entries: number
  used: number
  reserved: number
  readonly blocks: Map<string, Block>
}

interface Block {
  sequence: number
  credits: number
  expires: number
}

interface Usage {
  readonly id: StreamId
  readonly account: Account
  readonly credits: number
}

/** Every method runs synchronously, so it is atomic. */
class MemoryMeter implements Meter {
  readonly #limits: MeterLimits
  readonly #now: () => number
  readonly #epoch = randomUUID()
  readonly #accounts = new Map<Account, State>()
  /** Request id to its charge, or `void` once refunded; oldest first. */
  readonly #requests = new Map<string, { credits: number | 'void'; expires: number }>()
  #stream: Usage[] = []
  #newest = { ms: 0, sequence: 0 }
  #rolled: StreamId = STREAM_START
  #pending: { from: StreamId; to: StreamId } | null = null
  #closed = false

  constructor(limits: MeterLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  async charge(account: Account, credits: number, requestId: string): Promise<Charge> {
    this.#refuseWhenClosed()
    const state = this.#accounts.get(account)
    if (state === undefined) return { kind: 'unknown' }
    const request = this.#requests.get(requestId)
    if (request?.credits === 'void')
      throw new ServiceError('unavailable', 'this request was refunded')
    if (request !== undefined) return { kind: 'charged', left: left(state) }
    if (left(state) < credits) return { kind: 'insufficient', left: left(state) }
    if (this.#stream.length >= this.#limits.maxBacklog) return { kind: 'backlog' }
    this.#use(account, state, credits)
    this.#remember(requestId, credits)
    return { kind: 'charged', left: left(state) }
  }

  async refund(account: Account, requestId: string): Promise<void> {
    this.#refuseWhenClosed()
    const credits = this.#requests.get(requestId)?.credits
    this.#remember(requestId, 'void')
    const state = this.#accounts.get(account)
    if (typeof credits === 'number' && state !== undefined) this.#use(account, state, -credits)
  }

  async balance(account: Account): Promise<Balance | null> {
    this.#refuseWhenClosed()
    const state = this.#accounts.get(account)
    return state === undefined ? null : { left: left(state), reserved: state.reserved }
  }

  async renewBlock(account: Account, renewal: BlockRenewal): Promise<BlockGrant> {
    this.#refuseWhenClosed()
    const { connection, sequence, spent, wanted } = renewal
    const state = this.#accounts.get(account)
    if (state === undefined) return { kind: 'unknown' }
    const held = state.blocks.get(connection)
    if (held?.sequence === sequence)
      return { kind: 'granted', credits: held.credits, left: left(state) }
    if (this.#stream.length >= this.#limits.maxBacklog) return { kind: 'backlog' }
    state.reserved -= held?.credits ?? 0
    // The block was returned, or lost with the meter, so others may have used its credits.
    const paid = Math.min(spent, Math.max(0, left(state)))
    if (paid > 0) this.#use(account, state, paid)
    const credits = Math.max(0, Math.min(wanted, left(state)))
    state.reserved += credits
    const expires = this.#now() + this.#limits.blockMs
    state.blocks.set(connection, { sequence, credits, expires })
    return { kind: 'granted', credits, left: left(state) }
  }

  async releaseExpiredBlocks(): Promise<number> {
    const expired = [...this.#accounts.values()].flatMap((state) =>
      [...state.blocks]
        .filter(([, block]) => block.expires <= this.#now())
        .map(([connection, block]) => ({ state, connection, block })),
    )
    for (const { state, connection, block } of expired) {
      state.reserved -= block.credits
      state.blocks.delete(connection)
    }
    return expired.length
  }

  async epoch(): Promise<string> {
    this.#refuseWhenClosed()
    return this.#epoch
  }

  async load({ epoch, rolledTo }: StreamPosition, totals: ReadonlyMap<Account, LedgerTotal>) {
    this.#refuseWhenClosed()
    if (epoch !== this.#epoch || compareStreamIds(this.#rolled, rolledTo) > 0) return 'stale'
    const waiting = sumByAccount(this.#after(rolledTo))
    for (const [account, { funded, entries, used }] of totals) {
      const state = this.#accounts.get(account)
      if (state !== undefined && state.entries > entries) continue
      this.#accounts.set(account, {
        funded,
        entries,
        used: used + (waiting.get(account) ?? 0),
        reserved: state?.reserved ?? 0,
        blocks: state?.blocks ?? new Map(),
      })
    }
    return 'loaded'
  }

  async mayRollUp(): Promise<boolean> {
    this.#refuseWhenClosed()
    return true
  }

  async leaveRollUp(): Promise<void> {}

  async beginRollUp(epoch: string, rolledTo: StreamId): Promise<UsageRange | null> {
    this.#refuseWhenClosed()
    if (epoch !== this.#epoch) return null
    if (this.#pending === null) {
      const begin = compareStreamIds(this.#rolled, rolledTo) > 0 ? this.#rolled : rolledTo
      const last = this.#after(begin).slice(0, this.#limits.rollUpEntries).at(-1)
      if (last === undefined) return null
      this.#pending = { from: begin, to: last.id }
    }
    const { from, to } = this.#pending
    const after = this.#after(from)
    const range = after.slice(0, after.findIndex(({ id }) => id === to) + 1)
    return { from, to, entries: range.length, usage: sumByAccount(range) }
  }

  async endRollUp(epoch: string, to: StreamId): Promise<void> {
    this.#refuseWhenClosed()
    if (epoch !== this.#epoch || this.#pending?.to !== to) return
    this.#stream = this.#after(to)
    this.#rolled = to
    this.#pending = null
  }

  async inspect(accounts: readonly Account[], at: StreamPosition) {
    this.#refuseWhenClosed()
    if (at.epoch !== this.#epoch || compareStreamIds(this.#rolled, at.rolledTo) > 0) return null
    const waiting = sumByAccount(this.#after(at.rolledTo))
    return accounts.flatMap((account) => {
      const state = this.#accounts.get(account)
      if (state === undefined) return []
      const { funded, entries, used, reserved } = state
      const rolledUp = used - (waiting.get(account) ?? 0)
      const blocks = sum([...state.blocks.values()])
      return [{ account, funded, entries, rolledUp, reserved, blocks }]
    })
  }

  async rolledUp(): Promise<RolledUp> {
    const waiting = sumByAccount(this.#after(this.#rolled))
    const accounts = [...this.#accounts].map(([account, { funded, used }]) => {
      return [account, { funded, used: used - (waiting.get(account) ?? 0) }] as const
    })
    return { rolledTo: this.#rolled, accounts: new Map(accounts) }
  }

  async forget(): Promise<void> {
    this.#accounts.clear()
  }

  async ping(): Promise<void> {
    this.#refuseWhenClosed()
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #use(account: Account, state: State, credits: number): void {
    state.used += credits
    this.#stream.push({ id: this.#nextId(), account, credits })
  }

  /** As Redis makes them: the milliseconds, which never go back, and a number within these. */
  #nextId(): StreamId {
    const now = this.#now()
    const { ms, sequence } = this.#newest
    this.#newest = now > ms ? { ms: now, sequence: 0 } : { ms, sequence: sequence + 1 }
    return `${this.#newest.ms}-${this.#newest.sequence}`
  }

  #remember(requestId: string, credits: number | 'void'): void {
    const now = this.#now()
    for (const [id, { expires }] of this.#requests) {
      if (expires > now) break
      this.#requests.delete(id)
    }
    this.#requests.delete(requestId) // to the end of the map, so that the oldest stays first
    this.#requests.set(requestId, { credits, expires: now + this.#limits.requestSeconds * 1000 })
  }

  /** Entries after an id, by binary search: the stream is sorted by id, and long. */
  #after(id: StreamId): Usage[] {
    let low = 0
    let high = this.#stream.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const usage = this.#stream[middle]
      if (usage !== undefined && compareStreamIds(usage.id, id) <= 0) low = middle + 1
      else high = middle
    }
    return this.#stream.slice(low)
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new ServiceError('unavailable', 'the meter is closed')
  }
}

function left(state: State): number {
  return state.funded - state.used - state.reserved
}

function sumByAccount(stream: readonly Usage[]): Map<Account, number> {
  const sums = new Map<Account, number>()
  for (const { account, credits } of stream) sums.set(account, (sums.get(account) ?? 0) + credits)
  return sums
}

function sum(items: readonly { readonly credits: number }[]): number {
  return items.reduce((total, { credits }) => total + credits, 0)
}
