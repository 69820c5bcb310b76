import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { DepositRow } from './deposit-rows.ts'

/**
 * Maximum number of rows that wait to be stored. Further ones are left to the next reading of the
 * history.
 */
const MOST_WAITING = 10_000

/** Stores deposits of confirmed transactions. What it drops, the finalized history has. */
export class StreamedDeposits {
  readonly #insert: (rows: readonly DepositRow[]) => Promise<void>
  readonly #logger: Logger
  #waiting: DepositRow[] = []
  #storing: Promise<void> | null = null
  #isClosed = false

  constructor(insert: (rows: readonly DepositRow[]) => Promise<void>, logger: Logger) {
    this.#insert = insert
    this.#logger = logger
  }

  /** Stores rows soon. Drops them when the store refuses them or too many wait. */
  add(rows: readonly DepositRow[]): void {
    if (rows.length === 0 || this.#waiting.length >= MOST_WAITING || this.#isClosed) return
    this.#waiting.push(...rows)
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = null
    })
  }

  /** Accepts no more rows from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when no insert is running. */
  async idle(): Promise<void> {
    await this.#storing
  }

  async #storeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0)
      try {
        await this.#insert(rows)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        this.#logger.debug({ reason: error.message }, 'deposits are left to the next reading')
      }
    }
  }
}
