import type { Address } from '../../domain/address.ts'
import type { HistoryPosition, HistoryRange } from '../../domain/history.ts'
import type { HistoryRpc, SignatureInfo } from './solana-rpc.ts'

/** Options of `walkHistory`. */
export interface WalkOptions {
  readonly wallet: Address
  /** Token accounts of the wallet. */
  readonly accounts: Iterable<Address>
  readonly range: HistoryRange
  /** The checkpoint to resume from. */
  readonly after: HistoryPosition | null
  /** The slot that a server must have reached for its response to count. */
  readonly minContextSlot: number | null
  /** Transactions per chunk; default 1000. */
  readonly chunk?: number
  /** Maximum number of transactions per request; default 1000. */
  readonly page?: number
}

/**
 * Walks the history of a wallet.
 *
 * An incoming token transfer names only the token account, so the histories of the wallet and of
 * its token accounts are merged by slot. RPC does not list closed token accounts. The transaction
 * that closed one names the wallet, and is the newest of the account: `follow` adds the account
 * there.
 *
 * Memory is bounded: only the newest unreturned transactions of each address are kept, fewer per
 * address the more addresses there are.
 */
export function walkHistory(
  options: WalkOptions,
  rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>,
): WalletHistory {
  return new WalletHistory(options, rpc)
}

/**
 * Maximum number of buffered transactions of all addresses together; exceeded only with very many
 * addresses.
 */
const MAX_BUFFERED = 50_000
const LARGEST_PAGE = 1000
const SMALLEST_PAGE = 20

/** The history of one address. */
interface AddressHistory {
  readonly address: Address
  readonly isWallet: boolean
  /** Transactions that were read and not returned, newest first. */
  buffer: SignatureInfo[]
  /** The oldest transaction read so far; the next page starts after it. */
  before: string | undefined
  ended: boolean
}

/**
 * Reads the transactions of a wallet and its token accounts, from the newest to the oldest.
 */
export class WalletHistory {
  /** Token accounts whose transactions are read. */
  readonly accounts = new Set<Address>()
  /** The checkpoint after the last chunk; null before the first. */
  position: HistoryPosition | null
  readonly #options: WalkOptions
  readonly #rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>
  readonly #histories: AddressHistory[] = []
  /** The position before the last chunk. Newer transactions belong to earlier chunks. */
  #start: HistoryPosition | null
  /** Signatures of the last chunk and of the accounts added to it. */
  readonly #returned = new Set<string>()

  constructor(options: WalkOptions, rpc: Pick<HistoryRpc, 'getSignaturesForAddress'>) {
    this.#options = options
    this.#rpc = rpc
    this.position = options.after
    this.#start = options.after
    this.#histories.push(this.#createHistory(options.wallet, true))
    for (const account of options.accounts) this.#add(account)
  }

  /**
   * Whether the history is known to be read completely. While this is false, `next` may still
   * return null.
   */
  get isAtEnd(): boolean {
    return this.#histories.every(({ ended, buffer }) => ended && buffer.length === 0)
  }

  /**
   * The next chunk: whole slots, newest slot first, each transaction once, all older than the
   * previous chunk. Null at the end. A chunk has about `chunk` transactions.
   */
  async next(): Promise<SignatureInfo[] | null> {
    const { chunk = 1000 } = this.#options
    this.#returned.clear()
    this.#start = this.position
    for (;;) {
      await Promise.all(
        this.#histories.map((history) => this.#fill(history, (buffer) => buffer.length > 0)),
      )
      // A history that has not ended may have more transactions from its oldest buffered slot down.
      const oldest = this.#histories.flatMap(({ ended, buffer }) =>
        ended ? [] : (buffer.at(-1)?.slot ?? []),
      )
      const horizon = Math.max(-1, ...oldest)
      const complete = this.#buffered((slot) => slot > horizon)
      if (complete.length === 0 && horizon === -1) return null
      const last = complete[Math.min(chunk, complete.length) - 1]
      if (last !== undefined) return this.#take(last.slot)
      // The buffer of some history lies in one slot: read on until it reaches a lower slot.
      const blocking = this.#histories.filter(
        ({ ended, buffer }) => !ended && buffer.at(-1)?.slot === horizon,
      )
      await Promise.all(
        blocking.map((history) => this.#fill(history, (buffer) => isPast(buffer, horizon))),
      )
    }
  }

  /**
   * Adds token accounts that the last chunk names. Returns their transactions in the slots of that
   * chunk that the chunk lacks. Those may name further accounts: call `follow` again until it
   * returns nothing.
   */
  async follow(accounts: readonly Address[]): Promise<SignatureInfo[]> {
    const added = accounts.flatMap((account) => this.#add(account) ?? [])
    const low = this.position?.slot
    if (added.length === 0 || low === undefined) return []
    await Promise.all(added.map((history) => this.#fill(history, (buffer) => isPast(buffer, low))))
    return this.#take(low)
  }

  /**
   * Removes and returns the buffered transactions from slot `low` on that were not returned yet.
   */
  #take(low: number): SignatureInfo[] {
    const taken = this.#buffered((slot) => slot >= low).filter(
      ({ signature }) => !this.#returned.has(signature),
    )
    for (const history of this.#histories) {
      history.buffer = history.buffer.filter(({ slot }) => slot < low)
    }
    for (const { signature } of taken) this.#returned.add(signature)
    const last = taken.at(-1)
    if (last !== undefined && (this.position === null || low < this.position.slot)) {
      this.position = { slot: last.slot, signature: last.signature }
    }
    return taken
  }

  /**
   * The newest buffered transactions of all histories, down to the first slot that fails
   * `isIncluded`: each once, newest slot first.
   */
  #buffered(isIncluded: (slot: number) => boolean): SignatureInfo[] {
    const found = new Map<string, SignatureInfo>()
    for (const { buffer } of this.#histories) {
      for (const info of buffer) {
        if (!isIncluded(info.slot)) break
        found.set(info.signature, info)
      }
    }
    return [...found.values()].sort((a, b) => b.slot - a.slot)
  }

  #add(account: Address): AddressHistory | null {
    if (this.accounts.has(account) || account === this.#options.wallet) return null
    this.accounts.add(account)
    const history = this.#createHistory(account, false)
    this.#histories.push(history)
    return history
  }

  #createHistory(address: Address, isWallet: boolean): AddressHistory {
    return {
      address,
      isWallet,
      buffer: [],
      before: this.#start?.signature || undefined,
      ended: false,
    }
  }

  /** Reads pages of a history until its buffer `isEnough`, or the history has ended. */
  async #fill(
    history: AddressHistory,
    isEnough: (buffer: readonly SignatureInfo[]) => boolean,
  ): Promise<void> {
    const { minContextSlot, page: largest = LARGEST_PAGE } = this.#options
    let isShort = false
    // A short page need not be the last, because servers shorten pages for reasons of their own.
    // But usually it is. Reading on finds the end, and a history that has ended limits no chunk.
    while (
      !history.ended &&
      (!isEnough(history.buffer) || (isShort && history.buffer.length < largest))
    ) {
      const share = Math.floor(MAX_BUFFERED / this.#histories.length)
      const limit = Math.min(largest, Math.max(SMALLEST_PAGE, share))
      const page = await this.#rpc.getSignaturesForAddress(history.address, {
        limit,
        before: history.before,
        minContextSlot: minContextSlot ?? undefined,
      })
      isShort = page.length < limit
      history.before = page.at(-1)?.signature
      history.ended = page.length === 0
      this.#buffer(history, page)
    }
  }

  /** Adds the transactions of a page that are in range and relevant to the buffer. */
  #buffer(history: AddressHistory, page: readonly SignatureInfo[]): void {
    const { fromSlot, toSlot } = this.#options.range
    for (const info of page) {
      if (info.slot < (fromSlot ?? 0)) {
        history.ended = true
        return
      }
      if (info.slot > (toSlot ?? Infinity) || info.slot >= (this.#start?.slot ?? Infinity)) continue
      // A failed transaction changes no token balance. It charges a fee only to a wallet it names.
      if (info.failed && !history.isWallet) continue
      history.buffer.push(info)
    }
  }
}

function isPast(buffer: readonly SignatureInfo[], slot: number): boolean {
  const last = buffer.at(-1)
  return last !== undefined && last.slot < slot
}
