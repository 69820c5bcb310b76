/** When a Yellowstone server is left for another one. */
export interface EndpointLimits {
  /** How long a server may send no block while another one sends some, in milliseconds. */
  readonly stallMs: number
  /** By how many slots a server may be behind the others, and for how long. */
  readonly lagSlots: number
  readonly lagMs: number
}

/** The limits in production. A slot takes about 400 ms. */
export const ENDPOINT_LIMITS: EndpointLimits = { stallMs: 1800, lagSlots: 3, lagMs: 1000 }

/** A block as a server shows it. */
export interface SeenBlock {
  readonly slot: number
  readonly parent: number
  readonly blockhash: string
}

/**
 * Compares the confirmed blocks that the server in use sends with those of the others. Servers are
 * numbers from 0. Pure: times are monotonic milliseconds.
 */
export class EndpointWatch {
  readonly #own: number
  readonly #limits: EndpointLimits
  readonly #servers: ServerBlocks[]
  /** Whether the server in use was ever level with the others: before that it replays slots. */
  #wasLevel = false
  #behindSince: number | null = null

  constructor(servers: number, own: number, limits: EndpointLimits, now: number) {
    this.#own = own
    this.#limits = limits
    this.#servers = Array.from({ length: servers }, () => ({ newest: -1, at: now, ids: new Map() }))
  }

  /** Notes a block that a server sent. */
  onBlock(server: number, { slot, parent, blockhash }: SeenBlock, now: number): void {
    const seen = this.#servers[server]
    if (seen === undefined) return
    seen.at = now
    seen.newest = Math.max(seen.newest, slot)
    seen.ids.set(slot, `${blockhash}/${parent}`)
    for (const old of seen.ids.keys()) if (old < seen.newest - COMPARED_SLOTS) seen.ids.delete(old)
  }

  /** Whether the server in use has sent no block for too long, whatever the others do. */
  isSilent(now: number): boolean {
    return now - this.#ownBlocks.at >= this.#limits.stallMs
  }

  /** Why the server in use must be left; null: it need not. Call it a few times per second. */
  fault(now: number): EndpointFault | null {
    const { lagSlots, lagMs } = this.#limits
    const own = this.#ownBlocks
    const lead = Math.max(...this.#servers.map(({ newest }) => newest))
    if (lead > own.newest && this.isSilent(now)) return 'stalled'
    if (lead - own.newest <= lagSlots) {
      this.#wasLevel = true
      this.#behindSince = null
    } else if (this.#wasLevel) {
      this.#behindSince ??= now
      if (now - this.#behindSince >= lagMs) return 'behind'
    }
    return this.#differs() ? 'differs' : null
  }

  /** The other server that is furthest; the next one if no other has sent a block. */
  get next(): number {
    const next = (this.#own + 1) % this.#servers.length
    const furthest = (best: number, { newest }: ServerBlocks, server: number) =>
      server !== this.#own && newest > (this.#servers[best]?.newest ?? -1) ? server : best
    return this.#servers.reduce(furthest, next)
  }

  get #ownBlocks(): ServerBlocks {
    return this.#servers[this.#own] as ServerBlocks // there is one for each server
  }

  /** Whether in some slot more servers agree on another block than on that of the one in use. */
  #differs(): boolean {
    for (const [slot, own] of this.#ownBlocks.ids) {
      const counts = new Map<string, number>()
      for (const { ids } of this.#servers) {
        const id = ids.get(slot)
        if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
      }
      for (const [id, count] of counts)
        if (id !== own && count > (counts.get(own) ?? 0)) return true
    }
    return false
  }
}

/**
 * Why a server is left:
 * - `stalled`: no block came for a while, and another server has newer ones;
 * - `behind`: it is some slots behind another server for a while;
 * - `differs`: more of the others have another hash or parent in a slot.
 */
export type EndpointFault = 'stalled' | 'behind' | 'differs'

interface ServerBlocks {
  newest: number
  /** When the last block came. */
  at: number
  /** Hash and parent by slot. */
  readonly ids: Map<number, string>
}

/** Slots whose blocks are compared. */
const COMPARED_SLOTS = 64
