import type { Address } from '../../pipeline/domain/address.ts'

/** The wallet that is logged in, and its token. */
export interface Session {
  readonly wallet: Address
  /** The token's `jti`. */
  readonly tokenId: string
  /** The public key (`x`) that verified the token. */
  readonly verifiedBy: string
  /** Unix seconds. */
  readonly expiresAt: number
  /**
   * The generation of the wallet's tokens that this one belongs to (see `Revocations`); 0 is the
   * first.
   */
  readonly generation: number
}

/** Lifetime of a token, in seconds. */
export const TOKEN_SECONDS = 12 * 3600

/** How far the clock of the process that issued a token may be ahead, in seconds. */
export const CLOCK_SKEW_SECONDS = 5
