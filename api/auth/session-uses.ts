import type { Address } from '../../pipeline/domain/address.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { LatestUses, type LatestUsesDeps } from '../accounts/latest-uses.ts'
import type { Session } from './session.ts'

/** A session, and its last use (unix milliseconds) and the network that came from. */
export interface SessionUse extends Session {
  readonly at: number
  readonly network: string
}

/** How many sessions of a wallet are listed. */
export const MOST_LISTED_SESSIONS = 100

/**
 * The sessions of the dashboard that have not expired, with their last use (see `LatestUses`).
 * Sessions and uses in other processes may arrive ten seconds late. Revoked sessions are among
 * them. Reads reject with `unavailable`.
 */
export class SessionUses {
  readonly #store: Store
  readonly #uses: LatestUses<SessionUse>

  constructor(deps: LatestUsesDeps) {
    this.#store = deps.store
    this.#uses = new LatestUses(deps, 'dashboard_sessions', (_, use) => ({
      wallet: use.wallet,
      token_id: use.tokenId,
      generation: use.generation,
      verified_by: use.verifiedBy,
      expires_at: dateTime(use.expiresAt * 1000),
      used_at: dateTime(use.at),
      network: use.network,
    }))
  }

  /** Records a login, or a use of its token. `network`: see `networkOf`. */
  mark(session: Session, network: string): void {
    this.#uses.mark(session.tokenId, { ...session, network, at: this.#uses.now() })
  }

  /** Returns the newest `MOST_LISTED_SESSIONS` sessions of a wallet, newest first. */
  async list(wallet: Address): Promise<SessionUse[]> {
    const stored = await this.#read('wallet = {wallet:String}', { wallet })
    const uses = new Map(stored.map((use) => [use.tokenId, use]))
    for (const use of this.#uses.allUnwritten())
      if (use.wallet === wallet && use.expiresAt * 1000 > this.#uses.now())
        uses.set(use.tokenId, use)
    return [...uses.values()]
      .sort((a, b) => b.expiresAt - a.expiresAt || (a.tokenId < b.tokenId ? -1 : 1))
      .slice(0, MOST_LISTED_SESSIONS)
  }

  /** Returns a session of a wallet, or null if it has no such session. */
  async find(wallet: Address, tokenId: string): Promise<Session | null> {
    const unwritten = this.#uses.unwritten(tokenId)
    if (unwritten !== undefined) return unwritten.wallet === wallet ? unwritten : null
    const where = 'wallet = {wallet:String} AND token_id = {tokenId:String}'
    const [use] = await this.#read(where, { wallet, tokenId })
    return use ?? null
  }

  start(): void {
    this.#uses.start()
  }

  /** Stores what is still in memory. */
  stop(): Promise<void> {
    return this.#uses.stop()
  }

  async #read(
    where: string,
    params: { readonly wallet: Address; readonly tokenId?: string },
  ): Promise<SessionUse[]> {
    const rows = await this.#store.query<{
      readonly token_id: string
      readonly generation: string
      readonly verified_by: string
      readonly expires: string
      readonly used: string
      readonly network: string
    }>(
      `SELECT token_id, generation, verified_by, toUnixTimestamp64Milli(expires_at) AS expires,
         toUnixTimestamp64Milli(used_at) AS used, network
       FROM dashboard_sessions FINAL
       WHERE ${where} AND expires_at > fromUnixTimestamp64Milli({now:Int64})
       ORDER BY expires_at DESC, token_id LIMIT {limit:UInt32}`,
      { ...params, now: this.#uses.now(), limit: MOST_LISTED_SESSIONS },
    )
    return rows.map((row) => ({
      wallet: params.wallet,
      tokenId: row.token_id,
      generation: Number(row.generation),
      verifiedBy: row.verified_by,
      expiresAt: Number(row.expires) / 1000,
      at: Number(row.used),
      network: row.network,
    }))
  }
}
