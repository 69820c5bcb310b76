import { lowestEndedSlot, missingSlot, nextSlot } from './fork-choice.ts'
import { createLateTransactions, type LateTransactions } from './late-transactions.ts'
import { OpenSlots } from './open-slots.ts'
import type { DropCounts, FetchedBlock, SealerEvent, SealerOutput } from './sealer-events.ts'

/** Options of `SlotSealer`. */
export interface SlotSealerOptions {
  /**
   * The checkpoint: the last sealed slot. Null starts with the first slot that the stream has
   * whole.
   */
  readonly head: number | null
  /** Slots up to the head of which everything was withdrawn before the start. */
  readonly withdrawn?: Iterable<number>
  /**
   * How long to wait for a missing meta, status or parent after a newer slot was confirmed, before
   * it is fetched (rule K2). Default 10 s.
   */
  readonly patienceMs?: number
  /**
   * How many sealed slots are remembered for late transactions. Default 640: as many as a restart
   * compares, and those that are sealed meanwhile.
   */
  readonly remember?: number
}

/**
 * Turns the events of a stream into sealed slots in the order of the chain (rule K2). A
 * slot is sealed once it has its block meta and its `confirmed` status, and its parent is sealed.
 *
 * It is a pure state machine: it opens nothing and reads no clock. The same events with the same
 * times give the same outputs. It continues after `options.head`.
 */
export class SlotSealer<T, A> {
  /** Number of transactions dropped so far, by reason. */
  readonly dropped: DropCounts = { duplicate: 0, passed_over: 0, too_old: 0 }
  #head: number | null
  readonly #patienceMs: number
  readonly #open = new OpenSlots<T, A>()
  readonly #late: LateTransactions<T>
  /** Slots with a `fetch` that is not answered yet. */
  readonly #fetching = new Set<number>()
  /** First slot of a gap that the next sealed slot ends. */
  #gapFrom: number | null = null
  /**
   * True from the start of a stream without replay to the next seal: missing slots will not come.
   */
  #fetchAtOnce = false
  /** True until a stream without replay confirms its first slot. */
  #awaitsFirstSlot = false

  constructor(options: SlotSealerOptions) {
    const { head, withdrawn = [], patienceMs = 10_000, remember = 640 } = options
    this.#head = head
    this.#patienceMs = patienceMs
    this.#late = createLateTransactions(remember, this.dropped)
    for (const slot of withdrawn) this.#late.withdraw(slot)
  }

  /** The last sealed slot. Null if there was no checkpoint and no slot is complete yet. */
  get head(): number | null {
    return this.#head
  }

  /** Number of slots, transactions and bytes that wait to be sealed. */
  get pending(): OpenSlots<T, A>['size'] {
    return this.#open.size
  }

  /** Sealed slots whose late transactions are recognised, newest last. */
  recentSlots(): readonly number[] {
    return this.#late.slots()
  }

  /** Applies one event at `nowMs` (any monotonic milliseconds). Returns its outputs in order. */
  apply(event: SealerEvent<T, A>, nowMs: number): readonly SealerOutput<T, A>[] {
    switch (event.kind) {
      case 'transaction': {
        const { slot, transaction } = event
        if (this.#isPassed(slot)) {
          const late = this.#late.find(slot, transaction)
          return late === null ? [] : [late]
        }
        if (!this.#open.add(slot, transaction)) this.dropped.duplicate++
        return []
      }
      case 'account':
        if (!this.#isPassed(event.slot)) this.#open.addAccount(event)
        return []
      case 'meta':
        if (this.#isPassed(event.slot)) return []
        this.#open.addMeta(event.slot, event)
        break
      case 'confirmed':
        if (this.#isPassed(event.slot)) return []
        this.#confirm(event.slot, nowMs)
        break
      case 'dead':
        if (this.#open.all.get(event.slot)?.fetched !== true) this.#open.delete(event.slot)
        break
      case 'block':
        this.#addBlock(event)
        break
      case 'absent':
        this.#open.markAbsent(event.slot)
        this.#fetching.delete(event.slot)
        break
      case 'refused':
        this.#open.markRefused(event.slot)
        this.#fetching.delete(event.slot)
        break
      case 'emitted':
        for (const { keys, ...block } of event.blocks) this.#late.resume(block, keys)
        return []
      case 'recheck':
        return this.#isPassed(event.slot) ? this.#late.recheck(event) : []
      case 'withdraw': {
        const { slot, blockId } = event
        this.#late.withdraw(slot)
        return [{ kind: 'withdrawn', slot, blockId }]
      }
      case 'final':
        return this.#late.settle(event)
      case 'cut':
        this.#startStream(event.replayed)
        break
      case 'clear':
        this.#clear()
        break
      case 'jump':
        if (this.#head !== null) this.#gapFrom ??= this.#head + 1
        this.#head = null
        this.#clear()
        this.#startStream(true)
        break
      case 'tick':
        break
    }
    return this.#advance(nowMs)
  }

  #isPassed(slot: number): boolean {
    return this.#head !== null && slot <= this.#head
  }

  #clear(): void {
    this.#open.deleteUpTo(Number.POSITIVE_INFINITY)
    this.#fetching.clear()
  }

  #startStream(replayed: boolean): void {
    this.#open.reopen()
    this.#fetchAtOnce = !replayed
    this.#awaitsFirstSlot = !replayed
  }

  #confirm(slot: number, nowMs: number): void {
    this.#open.confirm(slot, nowMs)
    if (!this.#awaitsFirstSlot || this.#head === null) return
    this.#awaitsFirstSlot = false
    this.#open.markPartial(slot)
  }

  #addBlock(block: FetchedBlock<T>): void {
    if (this.#head === null || this.#isPassed(block.slot)) return
    this.dropped.duplicate += this.#open.replaceWithBlock(block)
    this.#fetching.delete(block.slot)
  }

  /** Seals every slot that can be sealed. Then requests the slot that blocks the chain, if any. */
  #advance(nowMs: number): SealerOutput<T, A>[] {
    if (this.#head === null) this.#startChain()
    const outputs: SealerOutput<T, A>[] = []
    while (this.#head !== null) {
      const next = nextSlot(this.#open.all, this.#head)
      if (next === null) break
      this.#seal(next, outputs)
    }
    const missing = this.#missingSlot(nowMs)
    if (missing !== null) {
      this.#fetching.add(missing)
      outputs.push({ kind: 'fetch', slot: missing })
    }
    return outputs
  }

  /** Without a head, the first ended slot becomes the head, unsealed: it may be incomplete. */
  #startChain(): void {
    this.#head = lowestEndedSlot(this.#open.all)
    if (this.#head !== null) this.#open.deleteUpTo(this.#head)
  }

  /**
   * The slot to fetch now; null when none is missing, requested already, or missing for long
   * enough.
   */
  #missingSlot(nowMs: number): number | null {
    if (this.#head === null) return null
    const missing = missingSlot(this.#open.all, this.#head, this.#fetchAtOnce)
    if (missing === null || this.#fetching.has(missing.slot)) return null
    const waitMs = this.#fetchAtOnce ? 0 : this.#patienceMs
    return nowMs - missing.sinceMs >= waitMs ? missing.slot : null
  }

  #seal(slot: number, outputs: SealerOutput<T, A>[]): void {
    const state = this.#open.all.get(slot)
    if (!state?.meta) throw new Error('only a slot with its meta is sealed')
    const { parent, blockTime, blockId } = state.meta
    if (state.parentAbsent && this.#head !== null) this.#gapFrom ??= this.#head + 1
    if (this.#gapFrom !== null) {
      outputs.push({ kind: 'gap', fromSlot: this.#gapFrom, toSlot: parent })
    }
    this.#gapFrom = null
    const sorted = [...state.transactions.values()].sort((a, b) => a.index - b.index)
    outputs.push({
      kind: 'sealed',
      slot,
      parent,
      blockTime,
      blockId,
      transactions: sorted.map(({ item }) => item),
      account: state.account?.account ?? null,
    })
    this.dropped.passed_over += this.#open.deleteUpTo(slot) - sorted.length
    for (const older of [...this.#fetching]) if (older <= slot) this.#fetching.delete(older)
    this.#head = slot
    this.#fetchAtOnce = false
    const keys = sorted.map(({ key }) => key)
    this.#late.remember({ slot, blockTime, blockId }, keys)
  }
}
