import type { WatchedToken, WatchlistChange } from '../../trending/watched-token.ts'

/**
 * Rows of `watchlist` that a process wrote for ticks that it did not finish. When the ticks are
 * computed again, most rows are written again under the same keys. The others have to be corrected,
 * because something that arrived late changed the outcome.
 */
export class UnfinishedChanges {
  /** Changes by tick and mint. */
  readonly #changes: Map<string, WatchlistChange>

  constructor(changes: readonly WatchlistChange[]) {
    this.#changes = new Map(changes.map((change) => [keyOf(change), change]))
  }

  /**
   * Returns the changes of tick `at`, and corrections of rows up to it that would not be written
   * any more: that the token did not change, or that it is not listed. `listed` returns the current
   * row of a listed token.
   */
  correct(
    at: number,
    changes: readonly WatchlistChange[],
    listed: (mint: string) => WatchedToken | null,
  ): readonly WatchlistChange[] {
    if (this.#changes.size === 0) return changes
    const all = [...changes]
    for (const change of changes) this.#changes.delete(keyOf(change))
    for (const [key, { token }] of this.#changes) {
      if (token.at > at) continue
      this.#changes.delete(key)
      const current = listed(token.mint)
      if (current !== null)
        all.push({ event: 'changed', token: { ...current, at: token.at }, reasons: [] })
      else all.push({ event: 'left', token, reasons: ['it was never listed'] })
    }
    return all
  }
}

function keyOf({ token }: WatchlistChange): string {
  return `${token.at} ${token.mint}`
}
