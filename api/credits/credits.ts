import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
import { repeat } from '../../pipeline/runtime/repeat.ts'
import type { Ledger } from './ledger.ts'
import type { Account, Balance, BlockGrant, BlockRenewal, Charge, Meter } from './meter.ts'

/** The result of a charge. */
export type Charged = Extract<Charge, { kind: 'charged' | 'insufficient' }>

/**
 * Credits of accounts for REST and the feed: the meter, which loads unknown accounts from the
 * ledger. Between `start` and `stop`, usage is rolled up into the ledger each second, and failed
 * refunds are retried. If the outcome of a step is unknown because the meter did not answer, the
 * step rejects with `unavailable`, and a possible charge is refunded.
 */
export class Credits {
  readonly #meter: Meter
  readonly #ledger: Ledger
  readonly #logger: Logger
  /** Pending refunds: request id to its account and the time until which retrying helps. */
  readonly #owed = new Map<string, { account: Account; until: number }>()
  /** Withdrawn trades whose credit is not given back yet, by account. */
  readonly #retracted = new Map<Account, Set<string>>()
  #stopRepeating: () => Promise<void> = async () => {}
  #seconds = 0
  /** Credits of withdrawn trades that are not given back, not yet logged. */
  #dropped = 0
  #rolledUpAt: number | null = null
  readonly #rollUps: OutageLog
  readonly #givings: OutageLog

  constructor(deps: { readonly meter: Meter; readonly ledger: Ledger; readonly logger: Logger }) {
    this.#meter = deps.meter
    this.#ledger = deps.ledger
    this.#logger = deps.logger
    const logOf = (work: string) =>
      createOutageLog(deps.logger, `${work} failed; will retry`, `${work} works again`)
    this.#rollUps = logOf('rolling up usage')
    this.#givings = logOf('giving back credits of withdrawn trades')
  }

  /** When all usage was last rolled up into the ledger (unix ms); null before the first time. */
  get rolledUpAt(): number | null {
    return this.#rolledUpAt
  }

  /** Charges a request, all or nothing, once per request id. */
  async charge(account: Account, credits: number, requestId: string): Promise<Charged> {
    try {
      const charge = await this.#known(account, () =>
        this.#meter.charge(account, credits, requestId),
      )
      if (charge.kind === 'charged' || charge.kind === 'insufficient') return charge
    } catch (error) {
      this.refundLater(account, requestId)
      throw error
    }
    throw new ServiceError('unavailable', 'too much usage waits for the ledger')
  }

  /** Refunds the charge of a failed request and returns the credits left. */
  async refund(account: Account, requestId: string): Promise<number | null> {
    try {
      await this.#meter.refund(account, requestId)
      return (await this.#meter.balance(account))?.left ?? null
    } catch (error) {
      this.refundLater(account, requestId)
      throw error
    }
  }

  /** Refunds the charge of a request, if any, as soon as the meter answers. */
  refundLater(account: Account, requestId: string): void {
    if (this.#owed.size >= MAX_OWED) return
    this.#owed.set(requestId, { account, until: Date.now() + OWED_MS })
  }

  async left(account: Account): Promise<number> {
    return (await this.balance(account)).left
  }

  async balance(account: Account): Promise<Balance> {
    const balance = await this.#meter.balance(account)
    if (balance !== null) return balance
    await this.#ledger.load(account)
    return (await this.#meter.balance(account)) ?? { left: 0, reserved: 0 }
  }

  /** See `Meter.renewBlock`. Rejects with `unavailable` if no block can be reserved. */
  async renewBlock(
    account: Account,
    renewal: BlockRenewal,
  ): Promise<Extract<BlockGrant, { kind: 'granted' }>> {
    const grant = await this.#known(account, () => this.#meter.renewBlock(account, renewal))
    if (grant.kind === 'granted') return grant
    throw new ServiceError('unavailable', 'too much usage waits for the ledger')
  }

  /**
   * Gives an account the credit of withdrawn trades back, once a trade (rule K9), as soon as the
   * ledger answers. A process that ends before that gives nothing back.
   */
  giveBackLater(account: Account, tradeIds: readonly string[]): void {
    const ids = this.#retracted.get(account) ?? new Set()
    this.#retracted.set(account, ids)
    for (const id of tradeIds)
      if (ids.size < MAX_RETRACTED) ids.add(id)
      else if (!ids.has(id)) this.#dropped++
  }

  /** Resolves when the meter answers (rule J4). */
  ping(): Promise<void> {
    return this.#meter.ping()
  }

  start(): void {
    this.#stopRepeating = repeat(1000, () => this.#everySecond())
  }

  /** Rolls up the remaining usage. */
  async stop(): Promise<void> {
    await this.#stopRepeating()
    await this.#everySecond(0)
  }

  /**
   * Rolls up until fewer than `leave` new uses are left; those wait for the next roll-up. Another
   * process may do it (`Meter.mayRollUp`), but not the rest of a process that ends (0).
   */
  async #everySecond(leave = LEFT_FOR_LATER): Promise<void> {
    // If it fails, usage stays in the meter; charges continue until its stream is full (rule K5).
    await this.#attempt(this.#rollUps, async () => {
      await this.#payBack()
      await this.#meter.releaseExpiredBlocks()
      if (leave === 0 || (await this.#meter.mayRollUp())) await this.#rollUp(leave)
      if (this.#seconds++ % RELOAD_SECONDS === 0) await this.#ledger.reloadGranted()
    })
    await this.#attempt(this.#givings, () => this.#payRetracted())
  }

  async #rollUp(leave: number): Promise<void> {
    try {
      while ((await this.#ledger.rollUp()) > leave);
      this.#rolledUpAt = Date.now()
    } catch (error) {
      await this.#meter.leaveRollUp()
      throw error
    }
  }

  /** Runs work that is repeated a second later. */
  async #attempt(outage: OutageLog, run: () => Promise<void>): Promise<void> {
    try {
      await run()
      outage.worked()
    } catch (err) {
      outage.failed({ err })
    }
  }

  async #payBack(): Promise<void> {
    for (const [requestId, { account, until }] of this.#owed) {
      if (until > Date.now()) await this.#meter.refund(account, requestId)
      this.#owed.delete(requestId)
    }
  }

  /** Gives back what waits, of all accounts together: a withdrawal may concern every client. */
  async #payRetracted(): Promise<void> {
    if (this.#dropped > 0)
      this.#logger.warn(
        { credits: this.#dropped },
        'credits of withdrawn trades are not given back',
      )
    this.#dropped = 0
    const given = [...this.#retracted].flatMap(([account, ids]) =>
      [...ids].map((id) => ({ account, id })),
    )
    if (given.length === 0) return
    await this.#ledger.append(
      given.map(({ account, id }) => ({
        account,
        key: `retract:${account}:${id}`,
        credits: 1,
        cause: 'adjustment',
        reason: 'a trade was withdrawn',
      })),
    )
    for (const { account, id } of given) {
      const ids = this.#retracted.get(account)
      ids?.delete(id)
      if (ids?.size === 0) this.#retracted.delete(account)
    }
    await this.#ledger.reloadGranted()
  }

  async #known<T extends { readonly kind: string }>(
    account: Account,
    step: () => Promise<T>,
  ): Promise<T> {
    const outcome = await step()
    if (outcome.kind !== 'unknown') return outcome
    await this.#ledger.load(account)
    return step()
  }
}

const MAX_OWED = 100_000
/** Maximum number of withdrawn trades of an account that wait to be given back. */
const MAX_RETRACTED = 10_000
/** Time for which the meter can still refund a request. */
const OWED_MS = 55_000
const RELOAD_SECONDS = 30
/** Smaller roll-ups cost more than they are worth. */
const LEFT_FOR_LATER = 1000
