/** The wallet a customer connected: the identity of an account, base58. */
export type Account = string

/**
 * Meters credits on top of the ledger: Redis when several processes share it (`redis.ts`), memory
 * in one process (`memory.ts`); both pass `meter.contract.test.ts`. For each account it holds what
 * the ledger granted (`funded`), what was ever used, and what connections of the feed hold in
 * reserve; what is left is funded - used - reserved. Every use is appended, in the same atomic
 * step, to a stream that `ledger.ts` rolls up into the ledger. Nothing here is the truth: an
 * account that is `unknown` (new, or the meter was lost) is loaded from the ledger.
 *
 * Every method rejects with a retriable ServiceError `unavailable` when the meter does not answer;
 * whether the step was done is then not known, which is why steps carry an id and may be repeated
 * or given back.
 */
export interface Meter {
  /** Takes `credits` for a request, all or nothing. The same request id again is charged once. */
  charge(account: Account, credits: number, requestId: string): Promise<Charge>
  /**
   * Returns what a request was charged, once; nothing when it was not charged, and it never will be
   * afterwards.
   */
  giveBack(account: Account, requestId: string): Promise<void>
  /** Credits left; null when the account is unknown. */
  left(account: Account): Promise<number | null>
  /** Books what a connection of the feed spent of its block and gives it the next one (rule F5). */
  renewBlock(account: Account, renewal: BlockRenewal): Promise<BlockGrant>
  /**
   * Returns the blocks of connections that ended without doing so, whose time is over (in the
   * customer's favour, rule J5).
   */
  releaseExpiredBlocks(): Promise<number>

  /** Names the stream of usage; a meter that lost everything starts another one. */
  epoch(): Promise<string>
  /**
   * Takes over what the ledger says. `stale`: usage was rolled up since the snapshot was read; read
   * it again.
   */
  load(account: Account, snapshot: LedgerSnapshot): Promise<'loaded' | 'stale'>
  /**
   * The oldest stretch of the stream after `rolledTo`, or after what was ended since that was read,
   * summed by account; null when there is none or the epoch is over. The same stretch is given
   * until it is ended, also to other processes, and no two begin at one place, so that each enters
   * the ledger under a key of its own.
   */
  beginRollUp(epoch: string, rolledTo: StreamId): Promise<UsageRange | null>
  /** Forgets the stretch, which is in the ledger now. */
  endRollUp(epoch: string, to: StreamId): Promise<void>
  /**
   * What the meter holds of accounts, unknown ones left out; null when usage was rolled up since
   * the snapshot was read.
   */
  inspect(accounts: readonly Account[], at: StreamPosition): Promise<MeteredAccount[] | null>

  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * `backlog`: so much usage waits for the ledger that no more is let in until it answers again (rule
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
  /**
   * Counts the renewals of the connection, from 1: a repeated one is done once and answered alike.
   */
  readonly sequence: number
  /**
   * Credits spent of the block in hand; the rest of it is returned. Of a block that was returned
   * already no more is booked than is left: a balance is never negative.
   */
  readonly spent: number
  /** Size of the next block; fewer are granted when fewer are left. 0 ends it. */
  readonly wanted: number
}

/** Place in the stream of usage, `<number>-<number>`, growing. */
export type StreamId = string

/** Before the first entry of any stream. */
export const STREAM_START: StreamId = '0-0'

/** Up to where a stream of usage has been rolled up into the ledger. */
export interface StreamPosition {
  readonly epoch: string
  readonly rolledTo: StreamId
}

/** What the ledger knew about an account when it had taken in the stream up to `rolledTo`. */
export interface LedgerSnapshot extends StreamPosition {
  /**
   * Sum of the entries that are not usage, and their number, which tells the newer of two
   * snapshots.
   */
  readonly funded: number
  readonly entries: number
  /** Usage rolled up so far. */
  readonly used: number
}

export interface UsageRange {
  readonly from: StreamId
  readonly to: StreamId
  /** How many entries of the stream it has. */
  readonly entries: number
  readonly usage: ReadonlyMap<Account, number>
}

export interface MeteredAccount {
  readonly account: Account
  readonly funded: number
  readonly entries: number
  /** Used, less what is still to be rolled up: what the ledger should say. */
  readonly rolledUp: number
  /** Reserved, by the account's own count and summed over its blocks. */
  readonly reserved: number
  readonly blocks: number
}

/** Limits of a meter. */
export interface MeterLimits {
  /** Entries of the stream that may wait for the ledger. */
  readonly maxBacklog: number
  /** Entries in one roll-up. */
  readonly rollUpEntries: number
  /** A request can be given back, and is not charged again, this long. */
  readonly requestSeconds: number
  /** A block that is not renewed for so long is returned. */
  readonly blockMs: number
}

export const METER_LIMITS: MeterLimits = {
  maxBacklog: 500_000,
  rollUpEntries: 20_000,
  requestSeconds: 60,
  blockMs: 60_000,
}

/** Orders two places of one stream: negative, zero or positive. */
export function compareStreamIds(a: StreamId, b: StreamId): number {
  const [aMs = 0, aSequence = 0] = a.split('-').map(Number)
  const [bMs = 0, bSequence = 0] = b.split('-').map(Number)
  return aMs - bMs || aSequence - bSequence
}
