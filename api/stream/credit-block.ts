import { setTimeout as delay } from 'node:timers/promises'
import type { Account, BlockRenewal } from '../credits/meter.ts'

/**
 * Reserves blocks of credits. Rejects when the meter does not answer; whether the renewal was done
 * is then unknown, and the same renewal may be retried.
 */
export interface BlockSource {
  renewBlock(
    account: Account,
    renewal: BlockRenewal,
  ): Promise<{ readonly credits: number; readonly left: number }>
}

/** Callbacks of a credit block. */
export interface BlockHooks {
  /** A block of `credits` was reserved; 0: the account has no credits left. */
  onGranted(credits: number): void
  /** The renewal has failed for `sinceMs` milliseconds; it is retried. */
  onFailure(sinceMs: number): void
}

/** Clock and pauses of a credit block. */
export interface BlockOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
  /** The pause before a retry; 250 ms by default. */
  readonly pause?: () => Promise<unknown>
}

/**
 * The credits that one connection has reserved (rule F5). They are spent without a call of the
 * meter and renewed in the background before they run out. A renewal books the spent credits,
 * returns the rest and reserves the next block in one atomic step.
 *
 * During a renewal the rest may still be spent. The next block is at least as large as the rest,
 * which the same step returns. What is spent meanwhile is booked by the following renewal. So no
 * credit is spent that was not reserved, and each spent credit is booked once.
 */
export class CreditBlock {
  readonly #source: BlockSource
  readonly #account: Account
  readonly #connection: string
  readonly #hooks: BlockHooks
  readonly #options: Required<BlockOptions>
  /** Credits that may be spent now. */
  #credits = 0
  /** Size of the current block. */
  #granted = 0
  /** Credits spent but not booked. */
  #unbooked = 0
  /** Credits of the account outside the block, as of the last renewal. */
  #left: number
  #size = MIN_BLOCK
  #sequence = 0
  #grantedAt = 0
  #renewal: Promise<void> | null = null
  #closing: Promise<void> | null = null

  constructor(
    deps: {
      readonly source: BlockSource
      readonly account: Account
      /** Name of the connection at the meter. */
      readonly connection: string
      /** Credits of the account at the start. */
      readonly left: number
      readonly hooks: BlockHooks
    },
    options: BlockOptions = {},
  ) {
    this.#source = deps.source
    this.#account = deps.account
    this.#connection = deps.connection
    this.#left = deps.left
    this.#hooks = deps.hooks
    this.#options = { now: () => performance.now(), pause, ...options }
  }

  /** Reserved credits that may be spent now. */
  get credits(): number {
    return this.#credits
  }

  /** Credits of the account with the reserved ones, as of the last renewal. */
  get balance(): number {
    return this.#left + this.#credits
  }

  /** Spends one credit. If there is none, it starts a renewal and returns false. */
  take(): boolean {
    if (this.#credits < 1) {
      this.renew()
      return false
    }
    this.#credits--
    this.#unbooked++
    if (this.#credits * 2 <= this.#granted) this.renew()
    return true
  }

  /** Spends `credits` at once. If fewer are reserved, it spends none and returns false. */
  takeAll(credits: number): boolean {
    if (this.#credits < credits) return false
    this.#credits -= credits
    this.#unbooked += credits
    if (credits > 0 && this.#credits * 2 <= this.#granted) this.renew()
    return true
  }

  /** Starts a renewal, unless one is running or the block is closed. */
  renew(): void {
    if (this.#closing !== null || this.#renewal !== null) return
    this.#renewal = this.#renew().then((granted) => {
      this.#renewal = null
      if (granted !== null) this.#hooks.onGranted(granted)
    })
  }

  /** Renews an old block, as the meter releases blocks that are not renewed in time. */
  keep(): void {
    const age = this.#options.now() - this.#grantedAt
    if (this.#sequence > 0 && age > KEEP_MS && (this.#credits > 0 || this.#unbooked > 0))
      this.renew()
  }

  /**
   * Charges the spent credits and releases the rest. Resolves when that succeeded or retries ended.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#renewal
    if (this.#sequence > 0) await this.#renew()
  }

  /**
   * Renews the block, with retries. Returns the size of the new block; null when it gave up after
   * `TRUSTED_MS`: the spent credits are then not booked, in the customer's favour.
   */
  async #renew(): Promise<number | null> {
    const spent = this.#unbooked
    const sequence = ++this.#sequence
    const wanted = this.#nextSize()
    const renewal = { connection: this.#connection, sequence, spent, wanted }
    const started = this.#options.now()
    for (;;) {
      const attempted = this.#options.now()
      try {
        const { credits, left } = await this.#source.renewBlock(this.#account, renewal)
        this.#unbooked -= spent
        this.#credits = credits - this.#unbooked
        this.#granted = credits
        this.#left = left
        this.#grantedAt = attempted
        return credits
      } catch {
        const now = this.#options.now()
        if (now - this.#grantedAt > TRUSTED_MS) this.#credits = 0
        // The meter may have done the renewal and released the block since. A retry would then book
        // the spent credits twice.
        if (now - started > TRUSTED_MS) {
          this.#unbooked -= spent
          this.#credits = 0
          return null
        }
        this.#hooks.onFailure(now - started)
        await this.#options.pause()
      }
    }
  }

  /**
   * Size of the next block. It grows with use, is at least the unspent rest, and otherwise at most
   * a quarter of the balance, so that other calls of the account find credits.
   */
  #nextSize(): number {
    if (this.#closing !== null) return 0
    const age = this.#options.now() - this.#grantedAt
    if (this.#sequence > 1 && age < GROWS_MS) this.#size = Math.min(this.#size * 2, MAX_BLOCK)
    else if (age > SHRINKS_MS) this.#size = Math.max(this.#size / 2, MIN_BLOCK)
    const share = Math.max(1, Math.floor(this.balance / 4))
    return Math.max(this.#credits, Math.min(this.#size, share))
  }
}

/** Bounds of the size of a block, in credits. */
const MIN_BLOCK = 16
const MAX_BLOCK = 1024
/** A block whose half is spent sooner than this doubles, and one that lasts longer halves. */
const GROWS_MS = 10_000
const SHRINKS_MS = 30_000
/** The meter releases a block 60 s after its last renewal (`METER_LIMITS.blockMs`). */
const TRUSTED_MS = 50_000
/** Age at which `keep` renews a block. */
const KEEP_MS = 20_000

function pause(): Promise<void> {
  return delay(250, undefined, { ref: false })
}
