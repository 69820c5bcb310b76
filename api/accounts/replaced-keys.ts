/**
 * Replaced API keys of accounts that were seen lately, by hash: at most `size`, the oldest dropped
 * first.
 */
export class ReplacedKeys {
  readonly #size: number
  readonly #accounts = new Map<string, string>()

  constructor(size = 10_000) {
    this.#size = size
  }

  add(keySha256: string, account: string): void {
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size >= this.#size && oldest !== undefined) this.#accounts.delete(oldest)
    this.#accounts.delete(keySha256)
    this.#accounts.set(keySha256, account)
  }

  /** Whose key it was; null for one that is not known. */
  accountOf(keySha256: string): string | null {
    return this.#accounts.get(keySha256) ?? null
  }
}
