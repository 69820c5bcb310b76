import { ApiError } from '../errors.ts'
import type { FeedKey } from '../middleware/upgrade.ts'
import type { EndReason } from './protocol-handler.ts'
import type { TradeReceiver } from './trade-receiver.ts'

/**
 * A call that waits for trades. It ends with its key, as a connection does, and with newer waits of
 * its account (rule M2).
 */
export class TradeWait implements TradeReceiver {
  readonly key: FeedKey
  /** Trades are charged when they are answered. */
  readonly heldCredits = 0
  #ended: EndReason | null = null
  #wake: () => void = () => {}

  constructor(key: FeedKey) {
    this.key = key
  }

  deliver(): void {
    this.#wake()
  }

  /** The call looks where its own position is covered once it wakes. */
  catchUpFrom(): void {}

  heartbeat(): void {}

  /** Called once, when the service ends the wait. */
  onEnd: () => void = () => {}

  end(reason: EndReason): void {
    if (this.#ended !== null) return
    this.#ended = reason
    this.onEnd()
    this.#wake()
  }

  /**
   * Resolves at the next publication, after `ms`, or when the client has gone. Rejects with the
   * refusal of a wait that the service has ended.
   */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#ended === null && !signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const timer = setTimeout(this.#wake, ms)
      signal.addEventListener('abort', this.#wake)
      await woken
      clearTimeout(timer)
      signal.removeEventListener('abort', this.#wake)
    }
    if (this.#ended !== null) throw refusalOf(this.#ended)
  }
}

/** The refusal of a wait that ended; nothing of it was charged. */
function refusalOf(reason: EndReason): ApiError {
  if (reason === 'account_disabled') return new ApiError('account_disabled')
  if (reason === 'superseded')
    return new ApiError('rate_limited', { title: SUPERSEDED, headers: { 'Retry-After': '1' } })
  if (reason === 'restarting' || reason === 'unavailable')
    return new ApiError('unavailable', { headers: { 'Retry-After': '1' } })
  return new ApiError('unauthorized', { title: `The key of this call has ended: ${reason}.` })
}

const SUPERSEDED =
  'A newer wait of this account has ended this one. Wait in one call at a time; the cursor is still valid.'
