import type { Address } from '../../pipeline/domain/address.ts'

/** Who is logged in, and by which token. */
export interface Session {
  readonly wallet: Address
  /** The token's `jti`. */
  readonly tokenId: string
  /** The public key (`x`) that verified the token. */
  readonly verifiedBy: string
  /** Unix seconds. */
  readonly expiresAt: number
  /** The generation of the wallet's tokens that it belongs to: see `Revocations`; 0: the first. */
  readonly generation: number
}

/** How long a token lives, in seconds. */
export const TOKEN_SECONDS = 12 * 3600

/** How far the clock of the process that issued a token may be ahead, in seconds. */
export const CLOCK_SKEW_SECONDS = 5
