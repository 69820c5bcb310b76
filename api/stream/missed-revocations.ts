import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
import type { Account } from '../credits/meter.ts'

/** An account whose own key was replaced, or that was disabled, and when (unix milliseconds). */
export interface RevokedKey {
  readonly account: Account
  readonly at: number
  readonly why: 'key_rotated' | 'account_disabled'
}

/** Dependencies of the lookup of missed revocations. */
export interface MissedRevocationsDeps {
  /** Reads the keys revoked, and the accounts disabled, since a time (unix milliseconds). */
  readonly revokedSince: ((unixMs: number) => Promise<readonly RevokedKey[]>) | undefined
  /** Called for each of them that the account channel did not announce. */
  onRevoked(revoked: RevokedKey): void
  /** Reads which of the named keys in use were deleted, by hash, and ends their connections. */
  endDeletedKeys(): Promise<void>
  readonly logger: Logger
}

/**
 * Finds keys that were revoked while the account channel was down, when this process received no
 * events. A failed lookup is repeated by the next call of `retry`.
 */
export class MissedRevocations {
  readonly #deps: MissedRevocationsDeps
  readonly #outage: OutageLog
  /** Start of the time to look up (unix milliseconds); null: nothing was missed. */
  #since: number | null = null

  constructor(deps: MissedRevocationsDeps) {
    this.#deps = deps
    this.#outage = createOutageLog(
      deps.logger,
      'revoked keys cannot be read, trying again',
      'revoked keys were read',
    )
  }

  /** The account channel is back after an outage that began at `sinceMs` (unix milliseconds). */
  onReconnect(sinceMs: number): void {
    this.#since = earlierOf(sinceMs, this.#since)
    this.#lookUp()
  }

  /** Repeats a lookup that failed; call it every second. */
  retry(): void {
    this.#lookUp()
  }

  #lookUp(): void {
    const since = this.#since
    if (since === null) return
    this.#since = null
    const { revokedSince = async () => [], endDeletedKeys } = this.#deps
    Promise.all([revokedSince(since - CLOCK_SKEW_MS), endDeletedKeys()]).then(
      ([revoked]) => {
        this.#outage.worked()
        for (const key of revoked) this.#deps.onRevoked(key)
      },
      () => {
        this.#since = earlierOf(since, this.#since)
        this.#outage.failed()
      },
    )
  }
}

/** How far the clocks of processes may differ. */
const CLOCK_SKEW_MS = 5000

function earlierOf(a: number, b: number | null): number {
  return b === null ? a : Math.min(a, b)
}
