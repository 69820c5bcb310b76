import { setTimeout as delay } from 'node:timers/promises'
import type { Account, BlockRenewal } from '../credits/meter.ts'

/** Where blocks come from; rejects when none can be had now, whether it was done is then not known. */
export interface BlockSource {
  renewBlock(
    account: Account,
    renewal: BlockRenewal,
  ): Promise<{ readonly credits: number; readonly left: number }>
}

export interface BlockHooks {
  /** A block has come, of `credits`: 0 says that the account has nothing left. */
  onGranted(credits: number): void
  /** No block can be had since so many milliseconds; asked again and again. */
  onFailure(sinceMs: number): void
}

export interface BlockOptions {
  /** Milliseconds of a clock that does not go back. */
  readonly now?: () => number
  /** Waits before the meter is asked again. */
  readonly pause?: () => Promise<unknown>
}

/**
 * The credits one connection holds in reserve (rule F5): taken one by one without asking anybody, renewed in the background before they run
 * out. A renewal books what was used, returns the rest and reserves the next block in one step. While it is under way the rest may still be used:
 * the next block is at least as large, because the rest is returned and taken again in the same step, and what was used meanwhile is
 * booked by the renewal after it. So nothing is used that was not reserved, and everything used is booked once.
 */
export class CreditBlock {
  readonly #source: BlockSource
  readonly #account: Account
  readonly #connection: string
  readonly #hooks: BlockHooks
  readonly #options: Required<BlockOptions>
  /** May be used now. */
  #credits = 0
  #granted = 0
  /** Used and not booked yet. */
  #unbooked = 0
  /** Left in the account besides the block, when last heard of. */
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
      /** Names the connection to the meter. */
      readonly connection: string
      /** Credits left at the start. */
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

  /** Credits in hand. */
  get credits(): number {
    return this.#credits
  }

  /** What the account could still pay for, as far as is known here. */
  get balance(): number {
    return this.#left + this.#credits
  }

  /** Uses one credit; false when there is none in hand, and then asks for more. */
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

  /** Uses so many credits, or none when fewer are in hand. */
  takeAll(credits: number): boolean {
    if (this.#credits < credits) return false
    this.#credits -= credits
    this.#unbooked += credits
    if (credits > 0 && this.#credits * 2 <= this.#granted) this.renew()
    return true
  }

  /** Asks for the next block, unless that is under way. */
  renew(): void {
    if (this.#closing !== null || this.#renewal !== null) return
    this.#renewal = this.#renew().then((granted) => {
      this.#renewal = null
      if (granted !== null) this.#hooks.onGranted(granted)
    })
  }

  /** Renews a block that has been in hand for a while: the meter takes back those it does not hear of. */
  keep(): void {
    const age = this.#options.now() - this.#grantedAt
    if (this.#sequence > 0 && age > KEEP_MS && (this.#credits > 0 || this.#unbooked > 0))
      this.renew()
  }

  /** Books what was used and returns the rest; resolves when that is done, or has been tried for long. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#renewal
    if (this.#sequence > 0) await this.#renew()
  }

  /** The size of the new block; null when none could be had for so long that what was used is forgotten. */
  async #renew(): Promise<number | null> {
    const spent = this.#unbooked
    const sequence = ++this.#sequence
    const wanted = this.#wanted()
    const renewal = { connection: this.#connection, sequence, spent, wanted }
    const started = this.#options.now()
    for (;;) {
      const asked = this.#options.now()
      try {
        const { credits, left } = await this.#source.renewBlock(this.#account, renewal)
        this.#unbooked -= spent
        this.#credits = credits - this.#unbooked
        this.#granted = credits
        this.#left = left
        this.#grantedAt = asked
        return credits
      } catch {
        const now = this.#options.now()
        if (now - this.#grantedAt > TRUSTED_MS) this.#credits = 0
        // The meter may have booked it and taken the block back since: asked again it would book it twice.
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

  /** More for who uses more, never less than what is in hand, and not so much that nothing is left for other calls. */
  #wanted(): number {
    if (this.#closing !== null) return 0
    const age = this.#options.now() - this.#grantedAt
    if (this.#sequence > 1 && age < 1000) this.#size = Math.min(this.#size * 2, MAX_BLOCK)
    else if (age > 10_000) this.#size = Math.max(this.#size / 2, MIN_BLOCK)
    const share = Math.max(1, Math.floor(this.balance / 4))
    return Math.max(this.#credits, Math.min(this.#size, share))
  }
}

const MIN_BLOCK = 16
const MAX_BLOCK = 1024
/** The meter takes a block back 60 s after it was given (`METER_LIMITS.blockMs`). */
const TRUSTED_MS = 50_000
const KEEP_MS = 20_000

function pause(): Promise<void> {
  return delay(250, undefined, { ref: false })
}
