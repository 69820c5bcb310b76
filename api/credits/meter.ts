/** The identity of an account: the customer's wallet address, base58. */
export type Account = string

/**
 * Meters credits on top of the ledger: in Redis for several processes (`redis.ts`), in memory for
 * one (`memory.ts`). Both pass `meter.contract.test.ts`.
 *
 * For each account it holds the credits granted by the ledger (`funded`), those used, and those
 * reserved by feed connections; credits left are funded - used - reserved. Each use is appended in
 * the same atomic step to a stream, which `ledger.ts` rolls up into the ledger. The ledger is the
 * source of truth: an account that is `unknown` (new, or the meter was lost) is loaded from it.
 *
 * Every method rejects with a retriable ServiceError `unavailable` when the meter does not answer.
 * The outcome is then unknown, so steps carry an id and may be repeated or refunded.
 */
export interface Meter {
  /** Charges `credits` for a request, all or nothing, once per request id. */
  charge(account: Account, credits: number, requestId: string): Promise<Charge>
  /**
   * Refunds the charge of a request, once. A request that was not charged yet never will be
   * afterwards.
   */
  refund(account: Account, requestId: string): Promise<void>
  /** Null when the account is unknown. */
  balance(account: Account): Promise<Balance | null>
  /** Charges what a feed connection used of its block, and reserves its next block (rule F5). */
  renewBlock(account: Account, renewal: BlockRenewal): Promise<BlockGrant>
  /** Refunds expired blocks of connections that ended without returning them (rule J5). */
  releaseExpiredBlocks(): Promise<number>

  /** Epoch of the usage stream. A meter that lost its data starts a new epoch. */
  epoch(): Promise<string>
  /**
   * Loads the ledger's state of accounts, as of a position of the stream. `stale`: usage was rolled
   * up since, so nothing was loaded; read it again.
   */
  load(at: StreamPosition, totals: ReadonlyMap<Account, LedgerTotal>): Promise<'loaded' | 'stale'>
  /**
   * Returns the oldest range of the stream after `rolledTo`, summed by account; null if there is
   * none or the epoch is over. The same range is returned to every process until it is ended, and
   * no two ranges start at the same entry, so each has a ledger key of its own.
   */
  beginRollUp(epoch: string, rolledTo: StreamId): Promise<UsageRange | null>
  /**
   * Whether this process is the one that rolls up. Only one of several does, so that usage costs
   * one write a second. If it does not call this for three seconds, the next process that calls
   * takes its place. Two may roll up for a moment, which is harmless.
   */
  mayRollUp(): Promise<boolean>
  /** Leaves rolling up to another process, because this one cannot. */
  leaveRollUp(): Promise<void>
  /** Trims a range that is in the ledger. */
  endRollUp(epoch: string, to: StreamId): Promise<void>
  /**
   * Returns the state of known accounts; null if usage was rolled up after the snapshot was read.
   */
  inspect(accounts: readonly Account[], at: StreamPosition): Promise<MeteredAccount[] | null>
  /**
   * Returns what was rolled up of every account, and up to where, also of accounts that became
   * unknown. Call it while nothing is charged.
   */
  rolledUp(): Promise<RolledUp>
  /** Makes every account unknown, so that its next use loads it from the ledger. */
  forget(): Promise<void>

  ping(): Promise<void>
  close(): Promise<void>
}

/** Credits of an account. */
export interface Balance {
  /** Credits left, without those that are reserved. */
  readonly left: number
  /** Credits that feed connections have reserved and not used. */
  readonly reserved: number
}

/** What the meter knows to be in the ledger. */
export interface RolledUp {
  readonly rolledTo: StreamId
  readonly accounts: ReadonlyMap<Account, { readonly funded: number; readonly used: number }>
}

/**
 * `backlog`: too much usage waits for the ledger, so charges are refused until it answers (rule
 * K5).
 */
export type Charge =
  | { readonly kind: 'charged' | 'insufficient'; readonly left: number }
  | { readonly kind: 'unknown' | 'backlog' }

export type BlockGrant =
  | { readonly kind: 'granted'; readonly credits: number; readonly left: number }
  | { readonly kind: 'unknown' | 'backlog' }

export interface BlockRenewal {
  readonly connection: string
  /** Number of the renewal, from 1. A repeated renewal is applied once and gets the same result. */
  readonly sequence: number
  /**
   * Credits used of the current block; the rest is refunded. If the block was refunded already, at
   * most the credits left are charged: a balance is never negative.
   */
  readonly spent: number
  /** Size of the next block, 0 to end. Fewer credits are granted if fewer are left. */
  readonly wanted: number
}

/** Position in the usage stream, `<number>-<number>`, ascending. */
export type StreamId = string

/** The position before the first entry. */
export const STREAM_START: StreamId = '0-0'

/** The position up to which a stream was rolled up into the ledger. */
export interface StreamPosition {
  readonly epoch: string
  readonly rolledTo: StreamId
}

/** The ledger's state of an account. */
export interface LedgerTotal {
  /** Sum and number of the entries that are not usage. The number tells which total is newer. */
  readonly funded: number
  readonly entries: number
  /** Credits that were used and rolled up into the ledger. */
  readonly used: number
}

export interface UsageRange {
  readonly from: StreamId
  readonly to: StreamId
  /** Number of stream entries in the range. */
  readonly entries: number
  readonly usage: ReadonlyMap<Account, number>
}

export interface MeteredAccount {
  readonly account: Account
  readonly funded: number
  readonly entries: number
  /** Usage without what is still to be rolled up; equals the usage in the ledger. */
  readonly rolledUp: number
  /** Reserved credits, as the account counts them and as the sum of its blocks. */
  readonly reserved: number
  readonly blocks: number
}

/** Limits of a meter. */
export interface MeterLimits {
  /** Largest number of stream entries that may wait for the ledger. */
  readonly maxBacklog: number
  /** Entries in one roll-up. */
  readonly rollUpEntries: number
  /** How long a request can be refunded, and is not charged again. */
  readonly requestSeconds: number
  /** Time without a renewal after which a block is refunded. */
  readonly blockMs: number
}

export const METER_LIMITS: MeterLimits = {
  maxBacklog: 500_000,
  rollUpEntries: 20_000,
  requestSeconds: 60,
  blockMs: 60_000,
}

/** The two numbers of a stream position: unix milliseconds by the meter's clock, and a counter. */
export function streamPlace(id: StreamId): { readonly ms: number; readonly sequence: number } {
  const [ms = 0, sequence = 0] = id.split('-').map(Number)
  return { ms, sequence }
}

/** Compares two stream positions. */
export function compareStreamIds(a: StreamId, b: StreamId): number {
  const one = streamPlace(a)
  const other = streamPlace(b)
  return one.ms - other.ms || one.sequence - other.sequence
}
