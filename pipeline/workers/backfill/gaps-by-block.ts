import { pMapIterable } from 'p-map'
import { createDecoder } from '../../decode/decoder.ts'
import type { Address } from '../../domain/address.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import { createWallets, type Wallets } from '../../domain/wallets.ts'
import { RpcErrorResponse } from '../../ingest/rpc/json-rpc.ts'
import { pauseUnlessStopped } from '../../ingest/rpc/retry-until-stopped.ts'
import type { RpcBlock, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import { selectTracked } from '../../ingest/select-tracked.ts'
import { normalize } from '../../ingest/wire/raw-transaction.ts'
import type { BackfillJob } from '../../store/tables/backfills.ts'
import type { CoverageStart } from '../../store/tables/wallet-coverage.ts'
import { waitUntilFolded } from '../fold/refold.ts'
import { decodeRecords } from '../ingest/decode-records.ts'
import { MISSING_PAUSE_MS, MISSING_TRIES, refuseStopped } from './fetch-transaction.ts'
import { appendFetched } from './page-writer.ts'
import type { BackfillJobDeps } from './run-backfill-job.ts'

/** Dependencies of backfills by block. */
export interface GapDeps extends BackfillJobDeps {
  readonly rpc: BackfillJobDeps['rpc'] & Pick<SolanaRpc, 'getBlock' | 'getBlocks'>
}

/**
 * The RPC calls of a backfill of one wallet that did nothing: the finalized slot, the token
 * accounts of two programs, and a page of signatures. Each token account and transaction adds one.
 */
const CALLS_PER_WALLET = 4
/** The jobs are saved each time that this many slots are done. A restart repeats at most these. */
const SLOTS_PER_SAVE = 3000
/** A block takes megabytes, so only a few are in memory at once. */
const BLOCKS_AT_ONCE = 6
const RECORDS_PER_APPEND = 1000

/** Whether fetching the blocks of all gaps once takes fewer calls than fetching them by wallet. */
export function isCheaperByBlock(gaps: readonly BackfillJob[]): boolean {
  const slots = rangesOf(gaps).reduce((sum, { from, to }) => sum + to - from + 1, 0)
  return slots < CALLS_PER_WALLET * gaps.length
}

/**
 * Fetches gaps of many wallets together, each block once and the newest first, and appends what the
 * wallets did in their gaps with origin `backfill`. The records are those of a backfill by wallet.
 * Resolves when the books include them and the jobs are done. Rejects as `runBackfillJob` does;
 * jobs that were cut off resume either way.
 *
 * A block that the server no longer has, or refuses, counts as missing for every wallet whose gap
 * includes it: the coverage of those wallets begins after it.
 */
export async function fetchGapsByBlock(
  gaps: readonly BackfillJob[],
  addresses: readonly Address[],
  deps: GapDeps,
  stop: AbortSignal,
): Promise<void> {
  const { rpc, slotTimes, metrics } = deps
  const ranges = rangesOf(gaps)
  const newestSlot = await slotTimes.finalizedSlot(ranges.at(-1)?.to ?? 0)
  const open = new OpenGaps(gaps, newestSlot)
  const writer = new RecordWriter(open, createWallets(addresses), deps, stop)
  open.missBelow((await rpc.getFirstAvailableBlock()) ?? 0)
  for (const { from, to } of partsOf(ranges)) {
    const slots = await rpc.getBlocks(from, to, 'finalized')
    const read = (slot: number) => readBlock(slot, rpc, stop)
    for await (const block of pMapIterable(slots, read, { concurrency: BLOCKS_AT_ONCE })) {
      refuseStopped(stop)
      metrics.rpcBlocks.inc({ why: 'gap' })
      if ('missing' in block) open.miss(block.missing)
      else await writer.add(block)
    }
    await writer.flush()
    await deps.untilDurable(stop)
    refuseStopped(stop)
    await deps.jobs.save(open.passed(from))
  }
  await finish(open.all(), deps, stop)
}

/** Reads a finalized block; `missing` is its slot when the server does not give it. */
async function readBlock(
  slot: number,
  rpc: Pick<SolanaRpc, 'getBlock'>,
  stop: AbortSignal,
): Promise<RpcBlock | { readonly missing: number }> {
  for (let tries = 1; ; tries++) {
    refuseStopped(stop)
    const block = await rpc.getBlock(slot, 'finalized').catch((error: unknown) => {
      if (error instanceof RpcErrorResponse) return 'absent'
      throw error
    })
    if (typeof block === 'object') return block
    if (tries === MISSING_TRIES) return { missing: slot }
    await pauseUnlessStopped(MISSING_PAUSE_MS, stop)
  }
}

/** Stores what is complete now, then that the jobs are done. */
async function finish(gaps: readonly BackfillJob[], deps: GapDeps, stop: AbortSignal) {
  const { coverage, jobs, metrics, store, log, hasFold } = deps
  const changed = gaps.filter(({ records }) => records > 0).map(({ wallet }) => wallet)
  if (hasFold) await waitUntilFolded({ store, log }, [...new Set(changed)], stop)
  const cuts = new Map<number, { readonly at: CoverageStart; readonly wallets: number[] }>()
  for (const { wallet, missingAt } of gaps) {
    if (missingAt === null) continue
    const slot = missingAt.slot + 1
    const cut = cuts.get(slot)
    if (cut) cut.wallets.push(wallet)
    else cuts.set(slot, { at: await deps.slotTimes.withTime(slot), wallets: [wallet] })
  }
  for (const { at, wallets } of cuts.values()) await coverage.cut(wallets, at)
  await jobs.save(gaps.map((gap) => ({ ...gap, state: 'done' })))
  metrics.doneBackfills.inc({ reason: 'gap' }, gaps.length)
  metrics.openBackfills.dec({ reason: 'gap' }, gaps.length)
}

/** The gaps that are fetched, by wallet, with what was found in them. */
class OpenGaps {
  readonly #gaps: BackfillJob[]
  /** Positions in `#gaps`. */
  readonly #ofWallet = new Map<number, number[]>()

  constructor(gaps: readonly BackfillJob[], newestSlot: number) {
    this.#gaps = gaps.map((gap) => ({ ...gap, newestSlot: gap.newestSlot ?? newestSlot }))
    for (const [at, { wallet }] of gaps.entries())
      this.#ofWallet.set(wallet, [...(this.#ofWallet.get(wallet) ?? []), at])
  }

  all(): readonly BackfillJob[] {
    return this.#gaps
  }

  has(wallet: number, slot: number): boolean {
    return this.#at(wallet, slot) !== undefined
  }

  /** Counts a transaction of a wallet. */
  found(wallet: number, slot: number, records: number): void {
    const at = this.#at(wallet, slot)
    const gap = at === undefined ? undefined : this.#gaps[at]
    if (at === undefined || gap === undefined) return
    const transactions = gap.transactions + 1
    this.#gaps[at] = { ...gap, transactions, records: gap.records + records }
  }

  /** Notes that the block of a slot is lost. */
  miss(slot: number): void {
    for (const [at, gap] of this.#gaps.entries()) {
      const { from, to } = rangeOf(gap)
      if (slot >= from && slot <= to) this.#missAt(at, slot)
    }
  }

  /** Notes that the server has no block below a slot. */
  missBelow(slot: number): void {
    for (const [at, gap] of this.#gaps.entries()) {
      const { from, to } = rangeOf(gap)
      const last = Math.min(to, slot - 1)
      if (last >= from) this.#missAt(at, last)
    }
  }

  #missAt(at: number, slot: number): void {
    const gap = this.#gaps[at]
    if (gap === undefined || slot <= (gap.missingAt?.slot ?? 0)) return
    this.#gaps[at] = { ...gap, missing: gap.missing + 1, missingAt: { slot, time: null } }
  }

  /** The jobs whose gaps reach below slot `from`, with everything from that slot on done. */
  passed(from: number): BackfillJob[] {
    const position = { slot: from, signature: '' }
    const passed: BackfillJob[] = []
    for (const [at, gap] of this.#gaps.entries()) {
      const range = rangeOf(gap)
      if (range.from >= from || range.to < from) continue
      this.#gaps[at] = { ...gap, position }
      passed.push({ ...gap, position })
    }
    return passed
  }

  #at(wallet: number, slot: number): number | undefined {
    return this.#ofWallet.get(wallet)?.find((at) => {
      const gap = this.#gaps[at]
      if (gap === undefined) return false
      const { from, to } = rangeOf(gap)
      return slot >= from && slot <= to
    })
  }
}

/** Decodes blocks and appends the records of open gaps, some at a time. */
class RecordWriter {
  readonly #open: OpenGaps
  readonly #deps: GapDeps
  readonly #stop: AbortSignal
  /** The wallets with a gap that includes slot `#slot`. */
  readonly #wanted: Wallets
  readonly #decoder: ReturnType<typeof createDecoder>
  #slot = 0
  #records: WalletRecord[] = []

  constructor(open: OpenGaps, wallets: Wallets, deps: GapDeps, stop: AbortSignal) {
    this.#open = open
    this.#deps = deps
    this.#stop = stop
    const ifOpen = (wallet: number | undefined) =>
      wallet !== undefined && open.has(wallet, this.#slot) ? wallet : undefined
    this.#wanted = {
      size: wallets.size,
      numberOf: (address) => ifOpen(wallets.numberOf(address)),
      numberOfKey: (key) => ifOpen(wallets.numberOfKey(key)),
      addressOf: wallets.addressOf,
    }
    this.#decoder = createDecoder(this.#wanted, deps.programs)
  }

  /** Decodes a block. Appends everything decoded so far once it is enough. */
  async add(block: RpcBlock): Promise<void> {
    const { metrics } = this.#deps
    this.#slot = block.slot
    for (const { item } of selectTracked(block, this.#wanted).transactions) {
      const tx = normalize(item)
      if (tx.kind === 'malformed') {
        metrics.malformed.inc({ reason: tx.reason })
        continue
      }
      const deps = { ...this.#deps, stop: this.#stop }
      const records = await decodeRecords(this.#decoder, tx, block.blockTime, deps)
      const counts = new Map<number, number>()
      for (const { wallet } of records) counts.set(wallet, (counts.get(wallet) ?? 0) + 1)
      for (const [wallet, count] of counts) this.#open.found(wallet, block.slot, count)
      metrics.backfillTransactions.inc({ reason: 'gap' }, counts.size)
      this.#records.push(...records)
    }
    if (this.#records.length >= RECORDS_PER_APPEND) await this.flush()
  }

  /** Resolves when the log has everything that was decoded. */
  async flush(): Promise<void> {
    const records = this.#records
    this.#records = []
    await appendFetched(records, 'backfill', this.#deps)
  }
}

/** Slots `from`..`to`, both included; `to` below `from` if none is left. */
interface Slots {
  readonly from: number
  readonly to: number
}

/** What of a gap is still to be fetched. */
function rangeOf({ range, position }: BackfillJob): Slots {
  const to = position === null ? (range.toSlot ?? Infinity) : position.slot - 1
  return { from: range.fromSlot ?? 0, to: Math.min(to, range.toSlot ?? Infinity) }
}

/** The slots of all gaps, each once, in ascending ranges with slots between them. */
function rangesOf(gaps: readonly BackfillJob[]): Slots[] {
  const sorted = gaps.map(rangeOf).sort((a, b) => a.from - b.from)
  const ranges: { from: number; to: number }[] = []
  for (const { from, to } of sorted) {
    const last = ranges.at(-1)
    if (to < from) continue
    if (last === undefined || from > last.to + 1) ranges.push({ from, to })
    else last.to = Math.max(last.to, to)
  }
  return ranges
}

/** Ranges cut into parts of at most `SLOTS_PER_SAVE` slots, newest first. */
function partsOf(ranges: readonly Slots[]): Slots[] {
  return ranges.toReversed().flatMap(({ from, to }) => {
    const parts: Slots[] = []
    for (let end = to; end >= from; end -= SLOTS_PER_SAVE)
      parts.push({ from: Math.max(from, end - SLOTS_PER_SAVE + 1), to: end })
    return parts
  })
}
