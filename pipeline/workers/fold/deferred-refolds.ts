/** A refold is due this long after the first late event that the books do not include. */
const DELAY_MS = 2000
/**
 * Added to the delay for each record folded so far. At 50,000 events per second, a refold then
 * takes about a twentieth of the time, so a long backfill costs a few refolds, not one for each
 * page.
 */
const DELAY_MS_PER_RECORD = 0.4

/**
 * Refolds of wallets that a backfill will bring more late events for. The wallets have a refold
 * mark in storage, so this memory may be lost at any time.
 */
export class DeferredRefolds {
  /** By wallet: when its refold is due, in milliseconds, and the revision of its mark. */
  readonly #refolds = new Map<number, { readonly dueMs: number; readonly revision: number }>()

  has(wallet: number): boolean {
    return this.#refolds.has(wallet)
  }

  /** Defers a refold. `records`: events and balance records that the books include. */
  defer(wallet: number, revision: number, records: number, nowMs: number): void {
    const dueMs = nowMs + DELAY_MS + DELAY_MS_PER_RECORD * records
    this.#refolds.set(wallet, { dueMs, revision })
  }

  /** Returns the refolds that are due, each as wallet and revision. They stay until `delete`. */
  due(nowMs: number): [wallet: number, revision: number][] {
    return [...this.#refolds].flatMap(([wallet, { dueMs, revision }]) =>
      dueMs <= nowMs ? [[wallet, revision] as [number, number]] : [],
    )
  }

  /** Removes a wallet whose refold is stored. */
  delete(wallet: number): void {
    this.#refolds.delete(wallet)
  }

  clear(): void {
    this.#refolds.clear()
  }
}
