import type { Viewer } from '../middleware/upgrade.ts'
import type { EndReason } from './protocol-handler.ts'

/** Dependencies of the access check of a dashboard connection. */
export interface ViewerAccessDeps {
  readonly viewer: Viewer
  /** Unix milliseconds by the wall clock. */
  readonly now: () => number
  /** Ends the connection. */
  end(reason: EndReason): void
}

/** Limits a dashboard connection to the lifetime of its token and of Pro (rules E2, E6). */
export class ViewerAccess {
  readonly #deps: ViewerAccessDeps
  /** Unix seconds. */
  #proUntil: number
  #isReadingPro = false

  constructor(deps: ViewerAccessDeps) {
    this.#deps = deps
    this.#proUntil = deps.viewer.proUntil
  }

  /** Ends the connection from the second on in which its token or Pro ends. */
  enforce(): void {
    const seconds = Math.floor(this.#deps.now() / 1000)
    if (seconds >= this.#deps.viewer.expiresAt) this.#deps.end('token_expired')
    else if (seconds >= this.#proUntil) this.#deps.end('pro_expired')
  }

  /**
   * Shortly before Pro ends, reads whether it was prolonged. If the read fails, the connection ends
   * at the known time.
   */
  refreshPro(): void {
    const { viewer, now } = this.#deps
    if (this.#isReadingPro || this.#proUntil * 1000 - now() > PRO_REFRESH_MS) return
    this.#isReadingPro = true
    viewer
      .readProUntil()
      .then((until) => {
        this.#proUntil = Math.max(this.#proUntil, until ?? 0)
      })
      .catch(() => {})
      .finally(() => {
        this.#isReadingPro = false
      })
  }

  /**
   * Ends the connection if its token was revoked. If the check fails, the connection stays open
   * until the next check.
   */
  checkRevocation(): void {
    const { viewer, end } = this.#deps
    viewer.isRevoked().then(
      (isRevoked) => {
        if (isRevoked) end('token_revoked')
      },
      () => {},
    )
  }
}

/** Time before the end of Pro at which the subscription is read again. */
const PRO_REFRESH_MS = 10_000
