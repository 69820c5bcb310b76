import type { Key } from './key.ts'
import type { Draft, Ledger, TokenAccount } from './transaction-builder.ts'
import type { PoolAccount } from './venues/pool.ts'

/** What an account holds. */
interface Holding {
  readonly lamports: bigint
  readonly token: TokenAccount | null
}

/**
 * What accounts hold while an episode is carried out, transaction by transaction. Wallets of the desk begin at zero lamports: their real
 * balance is a base that several episodes share. Pools are as their price says at the slot; everybody else has plenty.
 */
export class DeskLedger implements Ledger {
  /** The slot of the transaction that is being built. */
  slot = 0
  readonly #pools: ReadonlyMap<string, PoolAccount>
  readonly #relative: ReadonlySet<string>
  readonly #held = new Map<string, Holding>()

  /** `pools` by key id; `relative` are the ids of accounts that begin at zero. */
  constructor(pools: ReadonlyMap<string, PoolAccount>, relative: ReadonlySet<string>) {
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

  /** Gives an account something to begin with. */
  grant(key: Key, lamports: bigint, token: TokenAccount | null): void {
    this.#held.set(key.id, { lamports, token })
  }

  /** Keeps what a transaction left; pools go back to their price. */
  apply(draft: Draft): void {
    for (const [id, { lamports, token }] of draft.after) {
      if (!this.#pools.has(id)) this.#held.set(id, { lamports, token })
    }
  }

  /** Accounts that hold or are tokens now. */
  *tokenAccounts(): Iterable<TokenAccount> {
    for (const { token } of this.#held.values()) if (token !== null) yield token
  }
}
