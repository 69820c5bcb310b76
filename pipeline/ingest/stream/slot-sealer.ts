/**
 * Turns what a stream says about slots, in any order and any number of times, into sealed slots in the order of the chain (rule K2).
 * A pure state machine: it opens nothing and reads no clock; the same events with the same times give the same outputs. `T` is a transaction
 * and `A` an account update, both opaque and left raw until their slot is sealed.
 */
export interface SlotSealer<T, A> {
  /** Takes one event at `nowMs` (any monotonic milliseconds) and gives what follows from it, in the order in which it must be passed on. */
  apply(event: SealerEvent<T, A>, nowMs: number): readonly SealerOutput<T, A>[]
  /** The last sealed slot: everything up to it has been given out. Null until the first slot of a chain without a checkpoint is known. */
  readonly head: number | null
  /** What is held for slots that are not sealed yet. */
  readonly held: { readonly slots: number; readonly transactions: number; readonly bytes: number }
  /** What was dropped so far, and why. */
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Sealed slots still remembered, newest last: where a late transaction is recognised. */
  recentSlots(): readonly number[]
}

/**
 * `duplicate`: the same transaction again; `passed_over`: its slot was skipped, dead, or dropped by a fork; `too_old`: of a slot older than
 * those remembered, or before the first one.
 */
export type DropReason = 'duplicate' | 'passed_over' | 'too_old'

export type SealerEvent<T, A> =
  | {
      readonly kind: 'transaction'
      readonly slot: number
      readonly transaction: HeldTransaction<T>
    }
  /** An account update; the one with the highest write version in a slot is its last. */
  | {
      readonly kind: 'account'
      readonly slot: number
      readonly writeVersion: number
      readonly account: A
    }
  | {
      readonly kind: 'meta'
      readonly slot: number
      readonly parent: number
      readonly blockTime: number
    }
  | { readonly kind: 'confirmed'; readonly slot: number }
  | { readonly kind: 'dead'; readonly slot: number }
  /** A whole confirmed block fetched over RPC: asked for by `fetch`, or one of a gap. */
  | ({ readonly kind: 'block' } & FetchedBlock<T>)
  /** The answer to `fetch`: the confirmed chain has no such block. */
  | { readonly kind: 'absent'; readonly slot: number }
  /** A block at or below the head fetched again, to find transactions that came while the stream was cut. */
  | ({ readonly kind: 'recheck' } & FetchedBlock<T>)
  /**
   * The stream was replaced. `replayed`: the new one starts at the slot after the head, so every open slot comes again whole; otherwise its
   * first slot may be cut in two, and it and what lies before it are fetched at once.
   */
  | { readonly kind: 'cut'; readonly replayed: boolean }
  /** Everything that is not sealed is forgotten; the next stream will bring it again. */
  | { readonly kind: 'clear' }
  /** The way back to the head is too long: go on with the first whole slot of the stream and tell the gap. */
  | { readonly kind: 'jump' }
  | { readonly kind: 'tick' }

export type SealerOutput<T, A> =
  | {
      readonly kind: 'sealed'
      readonly slot: number
      readonly parent: number
      readonly blockTime: number
      /** By index in the block, variants of one transaction in order of arrival. */
      readonly transactions: readonly T[]
      /** The last update of the watched account in the slot. */
      readonly account: A | null
    }
  /** A transaction of a slot already sealed. `backfill`: it is not known whether it was given out before (rule K2). */
  | {
      readonly kind: 'late'
      readonly slot: number
      readonly blockTime: number
      readonly transaction: T
      readonly origin: 'stream' | 'backfill'
    }
  /** The block is to be fetched over RPC and given back as `block` or `absent`. Asked once. */
  | { readonly kind: 'fetch'; readonly slot: number }
  /** Slots `fromSlot`..`toSlot` were never seen; what follows lies after them. */
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }

export interface HeldTransaction<T> {
  /** The signature, one character a byte. */
  readonly key: string
  /** Index in the block. */
  readonly index: number
  /** Bytes that it keeps in memory; two transactions of one signature and different size are both kept (one may be garbage). */
  readonly bytes: number
  readonly item: T
}

export interface FetchedBlock<T> {
  readonly slot: number
  readonly parent: number
  readonly blockTime: number
  readonly transactions: readonly HeldTransaction<T>[]
}

export interface SlotSealerOptions {
  /** The checkpoint: the last slot that is sealed already. Null: the chain begins with the first slot that the stream brings whole. */
  readonly head: number | null
  /** How long a missing meta, status or parent is waited for after a newer slot was confirmed (rule K2). */
  readonly patienceMs?: number
  /** How many sealed slots are remembered for late transactions. */
  readonly remember?: number
}

/** A sealer that goes on after `options.head`. */
export function createSlotSealer<T, A>(options: SlotSealerOptions): SlotSealer<T, A> {
  const patienceMs = options.patienceMs ?? 10_000
  const remember = options.remember ?? 512
  let head = options.head
  let gapFrom: number | null = null
  let hurry = false
  let awaitsFirst = false
  let bytes = 0
  let count = 0
  const open = new Map<number, OpenSlot<T, A>>()
  const asked = new Set<number>()
  const recent = new Map<number, { readonly blockTime: number; readonly keys: Set<string> }>()
  const dropped = { duplicate: 0, passed_over: 0, too_old: 0 }

  function slotAt(slot: number): OpenSlot<T, A> {
    const known = open.get(slot)
    if (known !== undefined) return known
    const made: OpenSlot<T, A> = {
      meta: null,
      confirmedAt: null,
      partial: false,
      fetched: false,
      parentAbsent: false,
      transactions: new Map(),
      account: null,
    }
    open.set(slot, made)
    return made
  }

  const isPassed = (slot: number) => head !== null && slot <= head

  function forget(slot: number): void {
    const state = open.get(slot)
    if (state === undefined) return
    for (const transaction of state.transactions.values()) bytes -= transaction.bytes
    count -= state.transactions.size
    open.delete(slot)
  }

  function hold(slot: number, transaction: HeldTransaction<T>): void {
    const { transactions, fetched } = slotAt(slot)
    const variant = `${transaction.key}${transaction.bytes}`
    if (fetched || transactions.has(variant)) {
      dropped.duplicate++
      return
    }
    transactions.set(variant, transaction)
    bytes += transaction.bytes
    count++
  }

  function late(slot: number, transaction: HeldTransaction<T>): SealerOutput<T, A>[] {
    const sealed = recent.get(slot)
    if (sealed === undefined) {
      const oldest = recent.keys().next().value
      dropped[oldest !== undefined && slot > oldest ? 'passed_over' : 'too_old']++
      return []
    }
    if (sealed.keys.has(transaction.key)) {
      dropped.duplicate++
      return []
    }
    sealed.keys.add(transaction.key)
    const { blockTime } = sealed
    return [{ kind: 'late', slot, blockTime, transaction: transaction.item, origin: 'stream' }]
  }

  /** After a restart nothing is known of the slots before the checkpoint: all that the block has is given, as backfill. */
  function recheck(block: FetchedBlock<T>): SealerOutput<T, A>[] {
    if (!isPassed(block.slot)) return []
    if (recent.has(block.slot))
      return block.transactions.flatMap((found) => late(block.slot, found))
    const keys = new Set(block.transactions.map((found) => found.key))
    recent.set(block.slot, { blockTime: block.blockTime, keys })
    // Kept in the order of slots: the oldest is forgotten first.
    const ordered = [...recent].sort(([a], [b]) => a - b)
    recent.clear()
    for (const [slot, sealed] of ordered.slice(-remember)) recent.set(slot, sealed)
    return block.transactions.map((found) => ({
      kind: 'late',
      slot: block.slot,
      blockTime: block.blockTime,
      transaction: found.item,
      origin: 'backfill',
    }))
  }

  function takeBlock(block: FetchedBlock<T>): void {
    if (head === null || isPassed(block.slot)) return
    const account = open.get(block.slot)?.account ?? null
    forget(block.slot)
    const state = slotAt(block.slot)
    for (const transaction of block.transactions) hold(block.slot, transaction)
    state.meta = { parent: block.parent, blockTime: block.blockTime }
    // Long enough ago: what was waited for before it was fetched is not waited for again.
    state.confirmedAt = Number.NEGATIVE_INFINITY
    state.fetched = true
    state.account = account
    asked.delete(block.slot)
  }

  /**
   * A block that RPC does not have. What the stream said of its children was wrong, and they are looked up in turn; when RPC itself said it,
   * the block is lost, and the child is sealed behind a gap.
   */
  function takeAbsent(slot: number): void {
    forget(slot)
    asked.delete(slot)
    for (const state of open.values()) {
      if (state.meta?.parent !== slot) continue
      if (state.fetched) state.parentAbsent = true
      else state.meta = null
    }
  }

  function cut(replayed: boolean): void {
    for (const state of open.values()) {
      if (state.fetched) continue
      state.meta = null
      state.confirmedAt = null
      state.partial = false
    }
    hurry = !replayed
    awaitsFirst = !replayed
  }

  function confirm(slot: number, nowMs: number): void {
    slotAt(slot).confirmedAt ??= nowMs
    if (!awaitsFirst || head === null) return
    awaitsFirst = false
    for (const [older, state] of open) {
      if (older > slot || state.fetched) continue
      state.partial = true
      state.meta = null
    }
  }

  function describe(slot: number, parent: number, blockTime: number): void {
    const state = slotAt(slot)
    if (!state.partial) state.meta ??= { parent, blockTime }
  }

  function jump(): void {
    if (head !== null) gapFrom ??= head + 1
    head = null
    for (const slot of [...open.keys()]) forget(slot)
    asked.clear()
    cut(true)
  }

  /** Without a head, the first slot whose end the stream showed becomes the head, unsealed: it may be cut in two, its child is whole. */
  function anchor(): void {
    const whole = [...open].filter(([, state]) => state.meta !== null && state.confirmedAt !== null)
    if (whole.length === 0) return
    head = Math.min(...whole.map(([slot]) => slot))
    for (const slot of [...open.keys()]) if (slot <= head) forget(slot)
  }

  /** The child of the head, when it can be sealed. A fetched block is believed even when its parent lies before the head. */
  function nextSlot(at: number): number | null {
    let next: number | null = null
    for (const [slot, state] of open) {
      if (state.meta === null || state.confirmedAt === null) continue
      const believed = state.parentAbsent || (state.fetched && state.meta.parent < at)
      if ((believed || state.meta.parent === at) && (next === null || slot < next)) next = slot
    }
    return next
  }

  function seal(slot: number): SealerOutput<T, A>[] {
    const { meta, transactions, account, parentAbsent } = slotAt(slot)
    if (parentAbsent && head !== null) gapFrom ??= head + 1
    if (meta === null) throw new Error('only a slot with its meta is sealed')
    const sorted = [...transactions.values()].sort((a, b) => a.index - b.index)
    for (const older of [...open.keys()]) {
      if (older > slot) continue
      if (older < slot) dropped.passed_over += open.get(older)?.transactions.size ?? 0
      forget(older)
    }
    for (const older of [...asked]) if (older <= slot) asked.delete(older)
    head = slot
    hurry = false
    recent.set(slot, {
      blockTime: meta.blockTime,
      keys: new Set(sorted.map((transaction) => transaction.key)),
    })
    if (recent.size > remember) recent.delete(recent.keys().next().value ?? slot)
    const outputs: SealerOutput<T, A>[] = []
    if (gapFrom !== null) outputs.push({ kind: 'gap', fromSlot: gapFrom, toSlot: meta.parent })
    gapFrom = null
    outputs.push({
      kind: 'sealed',
      slot,
      parent: meta.parent,
      blockTime: meta.blockTime,
      transactions: sorted.map((transaction) => transaction.item),
      account: account?.account ?? null,
    })
    return outputs
  }

  /** Which slot keeps the chain waiting, and since when a newer one is confirmed. Null: nothing is known to be missing. */
  function missing(at: number): { readonly slot: number; readonly sinceMs: number } | null {
    const confirmed = [...open]
      .filter(([slot, state]) => slot > at && state.confirmedAt !== null)
      .sort(([a], [b]) => a - b)
    const [first, second] = confirmed
    if (first === undefined) return null
    const [slot, state] = first
    const parent = state.meta?.parent
    if (parent !== undefined && parent > at)
      return { slot: parent, sinceMs: state.confirmedAt ?? 0 }
    if (hurry) return { slot, sinceMs: state.confirmedAt ?? 0 }
    return second === undefined ? null : { slot, sinceMs: second[1].confirmedAt ?? 0 }
  }

  function advance(nowMs: number): SealerOutput<T, A>[] {
    if (head === null) anchor()
    const outputs: SealerOutput<T, A>[] = []
    while (head !== null) {
      const next = nextSlot(head)
      if (next !== null) {
        outputs.push(...seal(next))
        continue
      }
      const lost = missing(head)
      if (lost !== null && !asked.has(lost.slot)) {
        if (nowMs - lost.sinceMs >= (hurry ? 0 : patienceMs)) {
          asked.add(lost.slot)
          outputs.push({ kind: 'fetch', slot: lost.slot })
        }
      }
      break
    }
    return outputs
  }

  function apply(event: SealerEvent<T, A>, nowMs: number): readonly SealerOutput<T, A>[] {
    switch (event.kind) {
      case 'transaction':
        if (isPassed(event.slot)) return late(event.slot, event.transaction)
        hold(event.slot, event.transaction)
        return []
      case 'account': {
        if (isPassed(event.slot)) return []
        const state = slotAt(event.slot)
        if (state.account === null || state.account.writeVersion <= event.writeVersion) {
          state.account = event
        }
        return []
      }
      case 'meta':
        if (isPassed(event.slot)) return []
        describe(event.slot, event.parent, event.blockTime)
        break
      case 'confirmed':
        if (isPassed(event.slot)) return []
        confirm(event.slot, nowMs)
        break
      case 'dead':
        if (open.get(event.slot)?.fetched !== true) forget(event.slot)
        break
      case 'block':
        takeBlock(event)
        break
      case 'absent':
        takeAbsent(event.slot)
        break
      case 'recheck':
        return recheck(event)
      case 'cut':
        cut(event.replayed)
        break
      case 'clear':
        for (const slot of [...open.keys()]) forget(slot)
        asked.clear()
        break
      case 'jump':
        jump()
        break
      case 'tick':
        break
    }
    return advance(nowMs)
  }

  return {
    apply,
    get head() {
      return head
    },
    get held() {
      return { slots: open.size, transactions: count, bytes }
    },
    dropped,
    recentSlots: () => [...recent.keys()],
  }
}

interface OpenSlot<T, A> {
  meta: { readonly parent: number; readonly blockTime: number } | null
  confirmedAt: number | null
  /** The stream began within it: some of it may be missing, it is to be fetched. */
  partial: boolean
  /** Whole and confirmed, from RPC. */
  fetched: boolean
  /** RPC has the block, but not the one before it. */
  parentAbsent: boolean
  /** By signature and size. */
  readonly transactions: Map<string, HeldTransaction<T>>
  account: { readonly writeVersion: number; readonly account: A } | null
}
