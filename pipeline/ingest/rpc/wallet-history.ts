import type { Address } from '../../domain/address.ts'
import type { HistoryRpc, SignatureInfo } from './rpc.ts'

/** Where a walk through history stands: everything from this slot on has been handed out. */
export interface HistoryPosition {
  readonly slot: number
  /** A transaction of that slot. */
  readonly signature: string
}

/** Which slots of a history are wanted, both ends included; null: no bound. */
export interface HistoryRange {
  readonly fromSlot: number | null
  readonly toSlot: number | null
}

/** A wallet's transactions and those of its token accounts, walked from the newest to the oldest. */
export interface WalletHistory {
  /** The next transactions, older than all before, each once, whole slots, newest slot first; null at the end. About `chunk` of them. */
  next(): Promise<SignatureInfo[] | null>
  /**
   * Follows token accounts that the last chunk was found to name. Gives their transactions of the chunk's slots that were not in it, which may
   * name further accounts: ask until nothing comes.
   */
  follow(accounts: readonly Address[]): Promise<SignatureInfo[]>
  /** Where the walk stands after the last chunk; null before the first. */
  readonly position: HistoryPosition | null
  /** Whether it is known that nothing comes any more; `next` finds out in any case. */
  readonly isAtEnd: boolean
  /** Token accounts that are followed. */
  readonly accounts: ReadonlySet<Address>
}

/**
 * Walks the history of a wallet. An incoming token transfer names only the token account, so those are walked with it, all at the same pace; one that
 * was closed is found by the transaction that closed it, the newest of its own, and followed from there. Memory is bounded: the newest entries of
 * each list are held, fewer of each the more lists there are.
 */
export function walkHistory(
  options: {
    readonly wallet: Address
    readonly accounts: Iterable<Address>
    readonly range: HistoryRange
    /** Goes on from here. */
    readonly after: HistoryPosition | null
    /** The slot that a server must have reached to be believed. */
    readonly minContextSlot: number | null
    readonly chunk?: number
    /** Entries asked for at once: 1000. */
    readonly page?: number
  },
  rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>,
): WalletHistory {
  return new Walk(options, rpc)
}

/** Entries held of all lists together, when there are many. */
const MOST_HELD = 50_000
const LARGEST_PAGE = 1000
const SMALLEST_PAGE = 20

/** One address's list, as far as it is known and not handed out. */
interface Lane {
  readonly address: Address
  readonly isWallet: boolean
  /** Newest first. */
  held: SignatureInfo[]
  /** The last transaction that the server listed. */
  before: string | undefined
  ended: boolean
}

class Walk implements WalletHistory {
  readonly accounts = new Set<Address>()
  position: HistoryPosition | null
  readonly #options: Parameters<typeof walkHistory>[0]
  readonly #rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>
  readonly #lanes: Lane[] = []
  /** Where the last chunk began; what is newer has been handed out before it. */
  #start: HistoryPosition | null
  readonly #handedOut = new Set<string>()

  constructor(
    options: Parameters<typeof walkHistory>[0],
    rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>,
  ) {
    this.#options = options
    this.#rpc = rpc
    this.position = options.after
    this.#start = options.after
    this.#lanes.push(this.#lane(options.wallet, true))
    for (const account of options.accounts) this.#add(account)
  }

  get isAtEnd(): boolean {
    return this.#lanes.every(({ ended, held }) => ended && held.length === 0)
  }

  async next(): Promise<SignatureInfo[] | null> {
    const { chunk = 1000 } = this.#options
    this.#handedOut.clear()
    this.#start = this.position
    for (;;) {
      await Promise.all(this.#lanes.map((lane) => this.#fill(lane, (held) => held.length > 0)))
      // What lies below the end of a list that goes on is not all known.
      const ends = this.#lanes.flatMap(({ ended, held }) =>
        ended ? [] : (held.at(-1)?.slot ?? []),
      )
      const horizon = Math.max(-1, ...ends)
      const known = this.#distinct((slot) => slot > horizon)
      if (known.length === 0 && horizon === -1) return null
      const last = known[Math.min(chunk, known.length) - 1]
      if (last !== undefined) return this.#take(last.slot)
      // All that is known of some list is in one slot: more of it is needed.
      const short = this.#lanes.filter(({ ended, held }) => !ended && held.at(-1)?.slot === horizon)
      await Promise.all(short.map((lane) => this.#fill(lane, (held) => isPast(held, horizon))))
    }
  }

  async follow(accounts: readonly Address[]): Promise<SignatureInfo[]> {
    const added = accounts.flatMap((account) => this.#add(account) ?? [])
    const low = this.position?.slot
    if (added.length === 0 || low === undefined) return []
    await Promise.all(added.map((lane) => this.#fill(lane, (held) => isPast(held, low))))
    return this.#take(low)
  }

  /** Hands out everything from slot `low` on that has not been. */
  #take(low: number): SignatureInfo[] {
    const taken = this.#distinct((slot) => slot >= low).filter(
      ({ signature }) => !this.#handedOut.has(signature),
    )
    for (const lane of this.#lanes) lane.held = lane.held.filter(({ slot }) => slot < low)
    for (const { signature } of taken) this.#handedOut.add(signature)
    const last = taken.at(-1)
    if (last !== undefined && (this.position === null || low < this.position.slot))
      this.position = { slot: last.slot, signature: last.signature }
    return taken
  }

  /** What is held of the slots that `isMeant` names, each transaction once, newest slot first. */
  #distinct(isMeant: (slot: number) => boolean): SignatureInfo[] {
    const found = new Map<string, SignatureInfo>()
    for (const { held } of this.#lanes) {
      for (const info of held) {
        if (!isMeant(info.slot)) break
        found.set(info.signature, info)
      }
    }
    return [...found.values()].sort((a, b) => b.slot - a.slot)
  }

  #add(account: Address): Lane | null {
    if (this.accounts.has(account) || account === this.#options.wallet) return null
    this.accounts.add(account)
    const lane = this.#lane(account, false)
    this.#lanes.push(lane)
    return lane
  }

  #lane(address: Address, isWallet: boolean): Lane {
    return { address, isWallet, held: [], before: this.#start?.signature, ended: false }
  }

  /** Asks for further pages of a list until enough is held, or it has ended. */
  async #fill(lane: Lane, enough: (held: readonly SignatureInfo[]) => boolean): Promise<void> {
    const { range, minContextSlot, page: largest = LARGEST_PAGE } = this.#options
    const newest = range.toSlot ?? Infinity
    let isShort = false
    // A short page is no end, servers cut pages for their own reasons; but likely one: to know it now lets chunks be whole.
    while (!lane.ended && (!enough(lane.held) || (isShort && lane.held.length < largest))) {
      const share = Math.floor(MOST_HELD / this.#lanes.length)
      const limit = Math.min(largest, Math.max(SMALLEST_PAGE, share))
      const page = await this.#rpc.getSignaturesForAddress(lane.address, {
        limit,
        before: lane.before,
        minContextSlot: minContextSlot ?? undefined,
      })
      isShort = page.length < limit
      lane.before = page.at(-1)?.signature
      lane.ended = page.length === 0
      for (const info of page) {
        if (info.slot < (range.fromSlot ?? 0)) {
          lane.ended = true
          break
        }
        if (info.slot > newest || info.slot >= (this.#start?.slot ?? Infinity)) continue
        // A failed transaction that names only a token account of the wallet changes nothing of it.
        if (info.failed && !lane.isWallet) continue
        lane.held.push(info)
      }
    }
  }
}

function isPast(held: readonly SignatureInfo[], slot: number): boolean {
  const last = held.at(-1)
  return last !== undefined && last.slot < slot
}
