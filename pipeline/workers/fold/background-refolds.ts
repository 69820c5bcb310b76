import { isBeyond, type WalletPlace, type WalletState } from '../../fold/wallet-state.ts'
import type { BackgroundWork } from './flush-scheduler.ts'
import type { RefoldBatch } from './refold-batch.ts'

/** Bounds of refolds (rule J16). */
export interface RefoldLimits {
  /** Event rows that one flush folds again. Wallets with more are folded in the background. */
  readonly rowsPerFlush: number
  /** Event rows that one slice in the background reads. */
  readonly rowsPerSlice: number
}

/** The bounds of a service that runs. A slice then takes about 50 ms. */
export const REFOLD_LIMITS: RefoldLimits = { rowsPerFlush: 20_000, rowsPerSlice: 2500 }

/** Wallets in one batch; bounds memory. */
const WALLETS_PER_BATCH = 64

/** What the refolds need of the books. */
export interface BackgroundRefoldsOptions {
  readonly limits: RefoldLimits
  createBatch(revisions: ReadonlyMap<number, number>): RefoldBatch
  /** Stores refold marks: wallet to the revision that its refold will have. */
  mark(revisions: ReadonlyMap<number, number>): Promise<void>
  /** Stores snapshots of cached wallets. */
  save(wallets: Iterable<number>): Promise<void>
  /** Called with the number of wallets that are not done. */
  onCount(wallets: number): void
}

interface RunningBatch {
  readonly batch: RefoldBatch
  /** Whether the new states are those in memory. */
  hasTakenOver: boolean
  /** Wallets to fold once more after this batch, and the revision that they then get. */
  readonly again: Map<number, number>
}

/**
 * Refolds that are too long for a flush (rule J16). They run in slices between flushes, oldest
 * request first. Every wallet here has a refold mark in storage, so this memory may be lost at any
 * time. Until a wallet is done it has no snapshot. Its former state, if it is in memory, takes
 * events that come in order; otherwise its rows stay as they are.
 */
export class BackgroundRefolds implements BackgroundWork {
  readonly #options: BackgroundRefoldsOptions
  /** Wallets of later batches, oldest request first. */
  readonly #waiting = new Map<number, { readonly revision: number; readonly rows: number }>()
  #running: RunningBatch | null = null

  constructor(options: BackgroundRefoldsOptions) {
    this.#options = options
  }

  /** Whether the wallet waits or is being folded. */
  has(wallet: number): boolean {
    return this.#waiting.has(wallet) || this.#runs(wallet)
  }

  /** The revision that the wallet will have in the end; undefined if it is not here. */
  revisionOf(wallet: number): number | undefined {
    const { again, batch } = this.#running ?? {}
    return again?.get(wallet) ?? batch?.revisions.get(wallet) ?? this.#waiting.get(wallet)?.revision
  }

  /**
   * Adds a wallet that has a refold mark with this revision, or raises its revision. `rows`: its
   * stored event rows. A wallet that is being folded is folded once more.
   */
  add(wallet: number, revision: number, rows: number): void {
    if (this.#runs(wallet)) this.#running?.again.set(wallet, revision)
    else this.#waiting.set(wallet, { revision, rows })
    this.#count()
  }

  /**
   * Notes events of a wallet that are about to be stored, or (null) that some stored events change.
   * Those that the running batch has passed make it fold the wallet once more. `state`: the
   * wallet's state in memory.
   */
  note(wallet: number, events: readonly WalletPlace[] | null, state?: WalletState): void {
    const running = this.#running
    const revision = running?.batch.revisions.get(wallet)
    if (running === null || revision === undefined || running.again.has(wallet)) return
    const isMissed = (event: WalletPlace) =>
      running.hasTakenOver
        ? state === undefined || !isBeyond(state, event)
        : running.batch.hasPassed(wallet, event)
    if (events === null || events.some(isMissed)) running.again.set(wallet, revision + 1)
  }

  /** Drops everything. Storage has the marks. */
  clear(): void {
    this.#waiting.clear()
    this.#running = null
    this.#count()
  }

  isDue(): boolean {
    return this.#waiting.size > 0 || this.#running !== null
  }

  async runSlice(): Promise<void> {
    this.#running ??= this.#nextBatch()
    const running = this.#running
    const { batch } = running
    const isCurrent = () => this.#running === running
    if (!batch.isRead) await batch.readOn(this.#options.limits.rowsPerSlice)
    else if (!running.hasTakenOver) {
      if (await batch.storePart()) return
      await batch.catchUp()
      if (!batch.isRead) return
      await batch.takeOver(isCurrent)
      running.hasTakenOver = true
    } else if (!(await batch.deleteStale()) && isCurrent()) await this.#finish(running)
  }

  /** Every row is stored: snapshots replace the marks of wallets that are done. */
  async #finish({ batch, again }: RunningBatch): Promise<void> {
    await this.#options.mark(again)
    if (this.#running?.batch !== batch) return // the partitions are assigned again
    this.#running = null
    for (const [wallet, revision] of again)
      this.#waiting.set(wallet, { revision, rows: this.#options.limits.rowsPerFlush })
    await this.#options.save(batch.revisions.keys())
    this.#count()
  }

  /** Takes the oldest wallet, and those after it as long as they are short. */
  #nextBatch(): RunningBatch {
    const revisions = new Map<number, number>()
    let left = this.#options.limits.rowsPerFlush
    for (const [wallet, { revision, rows }] of this.#waiting) {
      if (revisions.size > 0 && (rows > left || revisions.size >= WALLETS_PER_BATCH)) break
      left -= rows
      revisions.set(wallet, revision)
      this.#waiting.delete(wallet)
    }
    const batch = this.#options.createBatch(revisions)
    return { batch, hasTakenOver: false, again: new Map() }
  }

  #runs(wallet: number): boolean {
    return this.#running?.batch.revisions.has(wallet) ?? false
  }

  #count(): void {
    this.#options.onCount(this.#waiting.size + (this.#running?.batch.revisions.size ?? 0))
  }
}
