import type { Address } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { Malformed, Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause } from '../runtime/pause.ts'
import type { OnStage } from '../runtime/slot-stage.ts'
import type { IngestOutput } from './output.ts'
import { readSolPrice } from './pools/whirlpool-account.ts'
import { pauseOrStop, Stopped } from './rpc/persist.ts'
import { createRpcHistory, type RpcHistory } from './rpc/rpc-history.ts'
import type { SolanaRpc } from './rpc/solana-rpc.ts'
import type { SolPrices } from './sol-price.ts'
import { createOutputQueue, type OutputQueue } from './stream/output-queue.ts'
import type { DropReason, SealerEvent, SealerOutput } from './stream/sealer-events.ts'
import { createSlotSealer } from './stream/slot-sealer.ts'
import { openSession, type SessionEnd, type StreamSession } from './stream/stream-session.ts'
import { subscribeRequest } from './stream/subscribe-request.ts'
import { type OpenUpdateStream, openUpdateStream, type StreamEnd } from './stream/yellowstone.ts'
import type { IngestMetrics } from './telemetry.ts'
import { normalize, type RawTransaction, sizeOf, trackedOf } from './wire/raw-transaction.ts'
import type { UpdateEnvelope } from './wire/update-envelope.ts'

export interface FollowConfig {
  readonly endpoint: string
  readonly xToken: string | null
  readonly pricePool: Address
  /** Payment addresses and their token accounts, at most some hundred: asked for at each opening of a stream. Over RPC they are not looked for. */
  readonly payments?: (() => readonly Address[]) | undefined
}

export interface FollowDeps {
  readonly rpc: SolanaRpc
  readonly prices: SolPrices
  readonly logger: Logger
  readonly metrics: IngestMetrics
  readonly openStream?: OpenUpdateStream
  /** Told when a slot is `received` and `sealed`. */
  readonly onStage?: OnStage | undefined
}

/** Bounds and times; each has its default in `LIMITS`. */
export interface FollowLimits {
  /** A stream that brings neither a slot status nor a block meta for so long is replaced. */
  readonly idleMs: number
  readonly pingMs: number
  /** First pause before a stream is opened again; it doubles up to `maxBackoffMs`, and starts anew once a stream has sealed a slot. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** See `SlotSealerOptions`. */
  readonly patienceMs: number
  /** Bytes of transactions held, unsealed or waiting to be taken, above which the stream is dropped and resumed. */
  readonly maxHeldBytes: number
  /** Sealed slots waiting to be taken, likewise. */
  readonly maxWaitingSlots: number
  /** The longest gap that is fetched over RPC (rule K2), in slots. */
  readonly maxGapSlots: number
  /** How many slots before a cut are compared with `getBlock` (rule K2). */
  readonly recheckSlots: number
  /** The same before a restart: what died may have been comparing slots of earlier cuts. */
  readonly restartRecheckSlots: number
}

const LIMITS: FollowLimits = {
  idleMs: 10_000,
  pingMs: 10_000,
  backoffMs: 100,
  maxBackoffMs: 10_000,
  patienceMs: 10_000,
  maxHeldBytes: 256 * 1024 * 1024,
  maxWaitingSlots: 256,
  maxGapSlots: 3000,
  recheckSlots: 64,
  restartRecheckSlots: 512,
}

/** Follows the chain from a slot on. One consumer takes the outputs in their order; what it does not take is bounded. */
export interface ChainFollower {
  /** The next output; null after `close`, when what was sealed has been taken. */
  next(): Promise<IngestOutput | null>
  /** Resolves when the first stream is open; rejects when it cannot be opened (`unreachable`, or `bad_config` for a bad token). */
  readonly opened: Promise<void>
  /** Rejects on a bug, never on trouble with the servers; resolves after `close`. */
  readonly done: Promise<void>
  /** Asks the open stream for these wallets instead. */
  updateWallets(wallets: Wallets): void
  /** Stops taking; what is sealed can still be taken. */
  close(): Promise<void>
}

/** Follows the chain after slot `head`, the checkpoint; null: from the first whole slot of the stream. */
export function followChain(
  config: FollowConfig & { readonly wallets: Wallets; readonly head: number | null },
  deps: FollowDeps,
  limits: Partial<FollowLimits> = {},
): ChainFollower {
  return new Follower(config, deps, { ...LIMITS, ...limits })
}

type Event = SealerEvent<RawTransaction, Uint8Array>
type Output = Exclude<SealerOutput<RawTransaction, Uint8Array>, { kind: 'fetch' }>

class Follower implements ChainFollower {
  readonly opened: Promise<void>
  readonly done: Promise<void>
  readonly #config: FollowConfig
  readonly #deps: FollowDeps
  readonly #limits: FollowLimits
  readonly #sealer
  readonly #queue: OutputQueue<Output>
  readonly #history: RpcHistory
  readonly #closing = new AbortController()
  #wallets: Wallets
  #session: StreamSession | null = null
  /** False once the server said that it replays nothing. */
  #replays = true
  #addressesPerFilter: number | undefined
  #sealed = 0
  /** Updates since the last tick by kind: a counter with labels costs more than reading an envelope. */
  readonly #received = new Map<string, number>()
  #receivedBytes = 0
  /** What of the sealer's counts is in the metrics. */
  readonly #counted = new Map<DropReason, number>()
  /** Slots before cuts that are still to be looked at. */
  #recheckNext: SlotRange | null = null
  #rechecking = false
  #restarted = true
  #resolveOpened: () => void = () => {}
  #rejectOpened: (error: Error) => void = () => {}
  #fail: (error: unknown) => void = () => {}

  constructor(
    config: FollowConfig & { readonly wallets: Wallets; readonly head: number | null },
    deps: FollowDeps,
    limits: FollowLimits,
  ) {
    this.#config = config
    this.#deps = deps
    this.#limits = limits
    this.#wallets = config.wallets
    const { head } = config
    this.#sealer = createSlotSealer<RawTransaction, Uint8Array>({
      head,
      patienceMs: limits.patienceMs,
    })
    this.#queue = createOutputQueue({
      items: limits.maxWaitingSlots,
      bytes: limits.maxHeldBytes,
    })
    this.#history = createRpcHistory(deps, this.#closing.signal)
    this.opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve
      this.#rejectOpened = reject
    })
    this.opened.catch(() => {}) // whoever does not wait for it hears of it from `done`
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    this.done = Promise.race([this.#run(), failed]).finally(() => this.#queue.end())
  }

  async next(): Promise<IngestOutput | null> {
    for (;;) {
      const taken = await this.#queue.take()
      if (taken === null) return null
      const output = this.#outputOf(taken)
      if (output !== null) return output
    }
  }

  updateWallets(wallets: Wallets): void {
    this.#wallets = wallets
    this.#session?.send(this.#request(null))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#session?.end({ kind: 'closed' })
    this.#queue.end()
    await this.done
  }

  /** One stream after the other, for ever. */
  async #run(): Promise<void> {
    const { backoffMs, maxBackoffMs } = this.#limits
    const tick = setInterval(() => this.#tick(), 250)
    let pauseMs = backoffMs
    try {
      while (!this.#closing.signal.aborted) {
        await this.#queue.room()
        if (!this.#replays) await this.#catchUp(null)
        const before = this.#sealed
        const end = await this.#stream()
        if (this.#closing.signal.aborted) return
        this.#deps.metrics.streams.inc({ end: end.kind })
        if (await this.#learn(end)) continue
        if (this.#sealed > before) pauseMs = backoffMs
        this.#deps.logger.warn({ end: end.kind, ...reasonOf(end), pauseMs }, 'stream ended')
        // Half of it at random, so that many clients of one server do not come back together.
        await pause(pauseMs * (0.5 + Math.random() / 2), this.#closing.signal)
        pauseMs = Math.min(pauseMs * 2, maxBackoffMs)
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
    } finally {
      clearInterval(tick)
      this.#session?.end({ kind: 'closed' })
    }
  }

  /** Opens a stream after the head and stays until it ends. */
  async #stream(): Promise<SessionEnd> {
    const { head } = this.#sealer
    const fromSlot = head === null || !this.#replays ? null : head + 1
    this.#apply({ kind: 'cut', replayed: head === null || fromSlot !== null })
    const asked = this.#wallets
    const session = await openSession({
      ...this.#config,
      request: this.#request(fromSlot),
      open: this.#deps.openStream ?? openUpdateStream,
      limits: this.#limits,
      onUpdate: (envelope, bytes) => this.#take(envelope, bytes),
    })
    if ('kind' in session) return this.#refuseFirst(session)
    this.#session = session
    this.#resolveOpened()
    this.#watch(this.#recheck(head))
    if (this.#closing.signal.aborted) session.end({ kind: 'closed' })
    // Asked for by nobody yet; another request on this stream might come after what is replayed.
    if (this.#wallets !== asked)
      session.end({ kind: 'failed', message: 'wallets were added while it opened' })
    this.#deps.logger.info({ resumed: fromSlot !== null }, 'stream opened')
    const end = await session.ended
    this.#session = null
    return end
  }

  /** A server that was never reached ends the start, not the service. */
  #refuseFirst(end: StreamEnd): StreamEnd {
    if (end.kind === 'refused') {
      this.#rejectOpened(
        new ServiceError('bad_config', 'YELLOWSTONE_X_TOKEN: the server refuses the token'),
      )
    } else if (end.kind === 'failed') {
      const message = `YELLOWSTONE_ENDPOINT: the server cannot be reached: ${end.message}`
      this.#rejectOpened(new ServiceError('unreachable', message, { retriable: true }))
    } else this.#resolveOpened()
    return end
  }

  /** Changes what the next stream asks for by how the last one ended; true when it can be asked at once. */
  async #learn(end: SessionEnd): Promise<boolean> {
    if (end.kind === 'out_of_range') {
      const { head } = this.#sealer
      await this.#catchUp(end.oldest)
      // A server that refuses what there is nothing to fetch for is not asked without a pause.
      return this.#sealer.head !== head
    }
    if (end.kind === 'no_replay') {
      const news = this.#replays
      this.#replays = false
      return news
    }
    if (end.kind === 'too_many_addresses') {
      const news = this.#addressesPerFilter !== end.most && end.most > 0
      this.#addressesPerFilter = end.most
      return news
    }
    if (end.kind === 'behind') this.#apply({ kind: 'clear' })
    return false
  }

  /**
   * Fetches over RPC what lies between the head and what the server can replay, `oldest` on; null when it replays nothing: then up to the newest
   * slot. When that is too much, live data goes on behind a gap (rule K2).
   */
  async #catchUp(oldest: number | null): Promise<void> {
    const { head } = this.#sealer
    if (head === null) return
    const tip = await this.#history.tip()
    const gap = (oldest ?? tip) - head - 1
    if (gap > this.#limits.maxGapSlots) {
      this.#deps.logger.warn({ slots: gap }, 'the gap is too long to fetch; live data goes on')
      this.#deps.metrics.gapSlots.inc(gap)
      this.#apply({ kind: 'jump' })
      return
    }
    // The server's window moves on meanwhile.
    const to = oldest === null ? tip : Math.min(tip, Math.max(oldest, head) + WINDOW_MARGIN)
    if (gap > 0) this.#deps.logger.info({ slots: gap }, 'fetching a gap over RPC')
    for await (const block of this.#history.blocks(head + 1, to)) {
      await this.#queue.room()
      this.#apply({ kind: 'block', ...trackedOf(block, this.#wallets) })
    }
  }

  /**
   * Looks for transactions that came late while no stream was open, which no replay brings: in the slots before the cut, and in those replayed up
   * to the newest at the reopening, once they are sealed: no more than the longest gap. Cuts that come meanwhile are looked at together.
   */
  async #recheck(head: number | null): Promise<void> {
    const { recheckSlots, restartRecheckSlots, maxGapSlots } = this.#limits
    const before = this.#restarted ? restartRecheckSlots : recheckSlots
    this.#restarted = false
    if (head === null || recheckSlots === 0) return
    const to = Math.max(head, await this.#history.tip())
    const from = Math.min(this.#recheckNext?.from ?? head, head - before + 1)
    this.#recheckNext = { from: Math.max(0, from, to - maxGapSlots - before), to }
    if (this.#rechecking) return
    this.#rechecking = true
    while (this.#recheckNext !== null) {
      const range: SlotRange = this.#recheckNext
      this.#recheckNext = null
      await this.#sealedUpTo(range.to)
      for await (const block of this.#history.pastBlocks(range.from, range.to)) {
        this.#apply({ kind: 'recheck', ...trackedOf(block, this.#wallets) })
      }
    }
    this.#rechecking = false
  }

  async #sealedUpTo(slot: number): Promise<void> {
    while ((this.#sealer.head ?? 0) < slot) await pauseOrStop(250, this.#closing.signal)
  }

  async #fetch(slot: number): Promise<void> {
    const wanted = () => this.#sealer.head !== null && this.#sealer.head < slot
    const block = await this.#history.block(slot, wanted)
    if (block === null) this.#apply({ kind: 'absent', slot })
    else this.#apply({ kind: 'block', ...trackedOf(block, this.#wallets) })
  }

  #take(envelope: UpdateEnvelope | null, bytes: Uint8Array): void {
    const kind = envelope?.kind ?? 'malformed'
    this.#received.set(kind, (this.#received.get(kind) ?? 0) + 1)
    this.#receivedBytes += bytes.length
    if (envelope === null) this.#deps.metrics.malformed.inc({ reason: 'not_an_update' })
    const event = envelope === null ? null : this.#eventOf(envelope, bytes)
    if (event === null) return
    if (event.kind === 'meta' || event.kind === 'confirmed')
      this.#deps.onStage?.('received', event.slot)
    this.#apply(event)
  }

  #eventOf(envelope: UpdateEnvelope, bytes: Uint8Array): Event | null {
    switch (envelope.kind) {
      case 'transaction': {
        const { slot, index, key } = envelope
        const item = { kind: 'grpc', bytes } as const
        return { kind: 'transaction', slot, transaction: { key, index, bytes: bytes.length, item } }
      }
      case 'meta': {
        const { slot, parent, blockTime } = envelope
        if (blockTime === null || parent >= slot) return null
        return { kind: 'meta', slot, parent, blockTime }
      }
      case 'slot':
        return envelope.status === 'other' ? null : { kind: envelope.status, slot: envelope.slot }
      case 'account': {
        const { slot, writeVersion, data } = envelope
        return { kind: 'account', slot, writeVersion, account: data }
      }
      default:
        return null
    }
  }

  #apply(event: Event): void {
    for (const output of this.#sealer.apply(event, performance.now())) {
      if (output.kind === 'fetch') {
        this.#watch(this.#fetch(output.slot))
        continue
      }
      if (output.kind === 'sealed') {
        this.#countSealed(output.blockTime)
        this.#deps.onStage?.('sealed', output.slot)
      }
      this.#queue.push(output, bytesOf(output))
    }
    if (this.#queue.full || this.#sealer.pending.bytes > this.#limits.maxHeldBytes) {
      this.#session?.end({ kind: 'behind' })
    }
  }

  /** What runs beside the stream: a bug in it ends everything. */
  #watch(task: Promise<void>): void {
    task.catch((error: unknown) => {
      if (!(error instanceof Stopped)) this.#fail(error)
    })
  }

  #tick(): void {
    this.#apply({ kind: 'tick' })
    const { heldBytes, dropped, updates, updateBytes } = this.#deps.metrics
    for (const [kind, count] of this.#received) updates.inc({ kind }, count)
    this.#received.clear()
    updateBytes.inc(this.#receivedBytes)
    this.#receivedBytes = 0
    for (const reason of DROP_REASONS) {
      const now = this.#sealer.dropped[reason]
      dropped.inc({ reason }, now - (this.#counted.get(reason) ?? 0))
      this.#counted.set(reason, now)
    }
    heldBytes.set({ where: 'unsealed' }, this.#sealer.pending.bytes)
    heldBytes.set({ where: 'waiting' }, this.#queue.size.bytes)
  }

  #countSealed(blockTime: number): void {
    this.#sealed++
    this.#deps.metrics.sealedSlots.inc()
    this.#deps.metrics.sealSeconds.observe(Math.max(0, Date.now() / 1000 - blockTime))
  }

  #request(fromSlot: number | null) {
    return subscribeRequest({
      wallets: this.#wallets,
      accounts: [this.#config.pricePool],
      payments: this.#config.payments?.() ?? [],
      fromSlot,
      ...(this.#addressesPerFilter && { addressesPerFilter: this.#addressesPerFilter }),
    })
  }

  /** Reads what was raw until now. Null for a late transaction that is none. */
  #outputOf(output: Output): IngestOutput | null {
    if (output.kind === 'gap') return output
    const { transactions: counted, malformed: countMalformed } = this.#deps.metrics
    if (output.kind === 'late') {
      const { slot, blockTime, origin } = output
      const transaction = normalize(output.transaction)
      counted.inc({ when: 'late' })
      if (transaction.kind === 'transaction')
        return { kind: 'late', slot, blockTime, origin, transaction }
      countMalformed.inc({ reason: transaction.reason })
      return null
    }
    const { slot, parent, blockTime, account } = output
    counted.inc({ when: 'in_time' }, output.transactions.length)
    const { transactions, malformed } = readAll(output.transactions)
    for (const { reason } of malformed) countMalformed.inc({ reason })
    const usdE9 = account === null ? null : readSolPrice(account)
    if (account !== null && usdE9 === null) countMalformed.inc({ reason: 'not_a_price_pool' })
    if (usdE9 !== null) this.#deps.prices.add({ time: blockTime, usdE9 })
    const solPrice = this.#deps.prices.newestOfPool(blockTime)
    return { kind: 'slot', slot, parent, blockTime, transactions, malformed, solPrice }
  }
}

const DROP_REASONS = ['duplicate', 'passed_over', 'too_old'] as const

interface SlotRange {
  readonly from: number
  readonly to: number
}

/** How many slots more than those that the server has lost are fetched: while they are, its window moves on. */
const WINDOW_MARGIN = 32

function bytesOf(output: Output): number {
  if (output.kind === 'late') return sizeOf(output.transaction)
  if (output.kind === 'gap') return 0
  return output.transactions.reduce((sum, raw) => sum + sizeOf(raw), 0)
}

/** Of several readings of one signature the first that can be read. */
function readAll(raws: readonly RawTransaction[]): {
  transactions: Transaction[]
  malformed: Malformed[]
} {
  const transactions: Transaction[] = []
  const malformed: Malformed[] = []
  let last: Transaction | null = null
  for (const raw of raws) {
    const read = normalize(raw)
    if (read.kind === 'malformed') {
      malformed.push(read)
      continue
    }
    // Sorted by index: copies of one transaction stand together.
    const repeats =
      last !== null &&
      last.index === read.index &&
      Buffer.compare(last.signature, read.signature) === 0
    if (!repeats) transactions.push(read)
    last = read
  }
  return { transactions, malformed }
}

function reasonOf(end: SessionEnd): { reason?: string } {
  return end.kind === 'failed' ? { reason: end.message } : {}
}
