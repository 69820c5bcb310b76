import type { Key } from './key.ts'
import type { Draft, LedgerBalances, TokenAccount } from './transaction-builder.ts'
import type { PoolBalances } from './venues/pool.ts'

/** What an account holds. */
interface Holding {
  readonly lamports: bigint
  readonly token: TokenAccount | null
}

/**
 * Balances while an episode is played, transaction by transaction. The desk's wallets begin at zero
 * lamports: their real balance is a base that several episodes share. Pools always hold what their
 * price at the slot implies; untracked wallets have plenty.
 */
export class DeskLedger implements LedgerBalances {
  /** The slot of the transaction that is being built. */
  slot = 0
  readonly #pools: ReadonlyMap<string, PoolBalances>
  readonly #relative: ReadonlySet<string>
  readonly #held = new Map<string, Holding>()

  /** `pools` by key id; `relative` are the ids of accounts that begin at zero. */
  constructor(pools: ReadonlyMap<string, PoolBalances>, relative: ReadonlySet<string>) {
    this.#pools = pools
    this.#relative = relative
  }

  lamports(key: Key): bigint {
    const held = this.#held.get(key.id)
    if (held !== undefined) return held.lamports
    if (this.#relative.has(key.id)) return 0n
    const pool = this.#pools.get(key.id)
    if (pool !== undefined) return pool.lamports(this.slot)
    return key.lamports
  }

  tokenAccount(key: Key): TokenAccount | null {
    const held = this.#held.get(key.id)
    if (held !== undefined) return held.token
    return this.#pools.get(key.id)?.token(this.slot) ?? null
  }

  /** Sets the initial balance of an account. */
  grant(key: Key, lamports: bigint, token: TokenAccount | null): void {
    this.#held.set(key.id, { lamports, token })
  }

  /** Keeps the balances after a transaction; pools return to those that their price implies. */
  apply(draft: Draft): void {
    for (const [id, { lamports, token }] of draft.after) {
      if (!this.#pools.has(id)) this.#held.set(id, { lamports, token })
    }
  }
}
