import type { BlockId } from '../../domain/block-id.ts'
import type { AccountUpdateEvent, FetchedBlock, PendingTransaction } from './sealer-events.ts'

/** State of one slot before it is sealed. */
export interface OpenSlot<T, A> {
  /** From the block meta, which follows the last transaction of the slot. */
  meta: {
    readonly parent: number
    readonly blockTime: number
    readonly blockId: BlockId | null
  } | null
  /**
   * When the `confirmed` status came, in monotonic milliseconds; minus infinity for a fetched
   * block.
   */
  confirmedAt: number | null
  /**
   * The stream started within this slot, so transactions may be missing. Only a fetched block
   * helps.
   */
  partial: boolean
  /** The slot's block was read over RPC: it is whole and confirmed. */
  fetched: boolean
  /** Its parent will not come: RPC has this block but not its parent, or refuses the parent. */
  parentAbsent: boolean
  /** Transactions by signature and size. */
  readonly transactions: Map<string, PendingTransaction<T>>
  account: AccountUpdateEvent<A> | null
}

/** Assembles slots from the events of a stream until they are sealed. Counts the memory in use. */
export class OpenSlots<T, A> {
  readonly #slots = new Map<number, OpenSlot<T, A>>()
  /** Slots above the head whose block RPC refuses. */
  readonly #refused = new Set<number>()
  #bytes = 0
  #transactions = 0

  /** All open slots, in order of arrival. */
  get all(): ReadonlyMap<number, OpenSlot<T, A>> {
    return this.#slots
  }

  /**
   * Number of open slots and their transactions; `bytes` of memory that the transactions occupy.
   */
  get size(): { readonly slots: number; readonly transactions: number; readonly bytes: number } {
    return { slots: this.#slots.size, transactions: this.#transactions, bytes: this.#bytes }
  }

  /**
   * Adds a transaction. Returns false for a duplicate, and for a slot whose whole block was
   * fetched.
   */
  add(slot: number, transaction: PendingTransaction<T>): boolean {
    const { transactions, fetched } = this.#slotAt(slot)
    const variant = `${transaction.key}${transaction.bytes}`
    if (fetched || transactions.has(variant)) return false
    transactions.set(variant, transaction)
    this.#bytes += transaction.bytes
    this.#transactions++
    return true
  }

  /** Keeps the account update unless the slot already has one with a higher write version. */
  addAccount(event: AccountUpdateEvent<A>): void {
    const state = this.#slotAt(event.slot)
    if (state.account === null || state.account.writeVersion <= event.writeVersion) {
      state.account = event
    }
  }

  /** Sets the block meta. The first one stays; a partial slot takes none. */
  addMeta(slot: number, meta: NonNullable<OpenSlot<T, A>['meta']>): void {
    const state = this.#slotAt(slot)
    if (state.partial || state.meta !== null) return
    state.meta = meta
    state.parentAbsent = this.#refused.has(meta.parent)
  }

  /** Marks the slot as confirmed. The first time stays. */
  confirm(slot: number, nowMs: number): void {
    this.#slotAt(slot).confirmedAt ??= nowMs
  }

  /**
   * Replaces everything known of a slot, except its account update, with its whole block. Returns
   * the number of duplicates among the block's transactions.
   */
  replaceWithBlock(block: FetchedBlock<T>): number {
    const account = this.#slots.get(block.slot)?.account ?? null
    this.delete(block.slot)
    let duplicates = 0
    for (const transaction of block.transactions) {
      if (!this.add(block.slot, transaction)) duplicates++
    }
    const state = this.#slotAt(block.slot)
    const { parent, blockTime, blockId } = block
    state.meta = { parent, blockTime, blockId }
    // Expires the wait, so that the missing parent is fetched immediately.
    state.confirmedAt = Number.NEGATIVE_INFINITY
    state.fetched = true
    state.parentAbsent = this.#refused.has(block.parent)
    state.account = account
    return duplicates
  }

  /**
   * Notes that RPC has no block of this slot. A child slot known from the stream has a wrong
   * parent: its meta is deleted, and it is fetched too. A child slot known from RPC will never get
   * its parent.
   */
  markAbsent(slot: number): void {
    this.delete(slot)
    for (const state of this.#slots.values()) {
      if (state.meta?.parent !== slot) continue
      if (state.fetched) state.parentAbsent = true
      else state.meta = null
    }
  }

  /** Notes that RPC refuses the block of this slot. Its child slots will never get their parent. */
  markRefused(slot: number): void {
    this.delete(slot)
    this.#refused.add(slot)
    for (const state of this.#slots.values())
      if (state.meta?.parent === slot) state.parentAbsent = true
  }

  /**
   * Forgets which slots ended and are confirmed, except fetched ones. The next stream repeats both.
   */
  reopen(): void {
    for (const state of this.#slots.values()) {
      if (state.fetched) continue
      state.meta = null
      state.confirmedAt = null
      state.partial = false
    }
  }

  /** Marks the slots up to `slot` as partial, except fetched ones. */
  markPartial(slot: number): void {
    for (const [older, state] of this.#slots) {
      if (older > slot || state.fetched) continue
      state.partial = true
      state.meta = null
    }
  }

  /** Deletes a slot and returns the number of its transactions. */
  delete(slot: number): number {
    const state = this.#slots.get(slot)
    if (state === undefined) return 0
    for (const transaction of state.transactions.values()) this.#bytes -= transaction.bytes
    this.#transactions -= state.transactions.size
    this.#slots.delete(slot)
    return state.transactions.size
  }

  /** Deletes all slots up to `slot` and returns the number of their transactions. */
  deleteUpTo(slot: number): number {
    let transactions = 0
    for (const refused of this.#refused) if (refused <= slot) this.#refused.delete(refused)
    for (const older of [...this.#slots.keys()]) {
      if (older <= slot) transactions += this.delete(older)
    }
    return transactions
  }

  #slotAt(slot: number): OpenSlot<T, A> {
    const known = this.#slots.get(slot)
    if (known !== undefined) return known
    const opened: OpenSlot<T, A> = {
      meta: null,
      confirmedAt: null,
      partial: false,
      fetched: false,
      parentAbsent: false,
      transactions: new Map(),
      account: null,
    }
    this.#slots.set(slot, opened)
    return opened
  }
}
