import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batchCalls } from '../../pipeline/runtime/batch-calls.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { connectRedis, orUnavailable, type Redis, replicated } from '../redis-connection.ts'
import type { RedisUrl } from '../redis-url.ts'
import {
  type Balance,
  type BlockGrant,
  type BlockRenewal,
  type Charge,
  METER_LIMITS,
  type Meter,
  type MeteredAccount,
  type MeterLimits,
  type RolledUp,
  STREAM_START,
  type UsageRange,
} from './meter.ts'
import * as scripts from './redis-scripts.ts'

/**
 * Creates the meter that all processes share. Each step is one Lua script and one round trip.
 * Charges of the same turn of the event loop share one script call, because the call costs more
 * than a charge, and so do renewals of blocks. Needs Redis 6.2 or newer with
 * `maxmemory-policy noeviction`. An account is stored with the reign of the server. A server that
 * restarted, or was a replica until a failover, may lack the last second. Its reign is new: it
 * knows no account until the account is loaded from the ledger again (rule K12).
 *
 * Keys, each under `prefix`: `account:<wallet>` hash (run: reign, funded, entries, used, reserved,
 * `block:<connection>` = `<sequence>:<credits>`); `usage` stream (a: wallet, c: credits); `reign`
 * `<run id>[:<number>]`; `epoch`, `rolled`, `pending`, `roller`; `request:<id>` charged credits or
 * `void`; `blocks` sorted set of `<wallet>|<connection>` by the millisecond it expires.
 */
export async function createRedisMeter(
  url: RedisUrl,
  deps: { readonly logger: Logger },
  options: { readonly prefix?: string; readonly limits?: MeterLimits } = {},
): Promise<Meter> {
  const { prefix = 'tw:{credits}:', limits = METER_LIMITS } = options
  const redis = await connectRedis(url, deps.logger, { scripts: scripts.DEFINITIONS })
  return new RedisMeter(redis, prefix, limits)
}

class RedisMeter implements Meter {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #limits: MeterLimits
  /** Names this process as the one that rolls up. */
  readonly #id = randomUUID()
  /** The reign of the server that answers; null: not known since the connection was lost. */
  #reign: Promise<string> | null = null
  /** When the newest write that a replica confirmed was sent, in monotonic milliseconds. */
  #replicatedAt = Number.NEGATIVE_INFINITY
  #replicating: Promise<void> | null = null
  readonly #chargeSoon = batchCalls<ChargeStep, Charge>(
    (steps) => this.#chargeAll(steps),
    IN_A_CALL,
  )
  readonly #renewSoon = batchCalls<RenewalStep, BlockGrant>(
    (steps) => this.#renewAll(steps),
    IN_A_CALL,
  )

  constructor(redis: Redis, prefix: string, limits: MeterLimits) {
    this.#redis = redis
    this.#prefix = prefix
    this.#limits = limits
    redis.on('close', () => {
      this.#reign = null
      this.#replicatedAt = Number.NEGATIVE_INFINITY
    })
  }

  async charge(account: string, credits: number, requestId: string): Promise<Charge> {
    const charge = await this.#chargeSoon({ account, credits, requestId })
    if (charge === undefined) throw new ServiceError('unavailable', 'this request was refunded')
    return charge
  }

  async #chargeAll(steps: readonly ChargeStep[]): Promise<Map<ChargeStep, Charge>> {
    const keys = steps.flatMap(({ account, requestId }) =>
      this.#keys(`account:${account}`, `request:${requestId}`),
    )
    const reply = await this.#script('meterCharge', [
      ...[1 + keys.length, this.#key('usage'), ...keys],
      ...[await this.#readReign(), this.#limits.maxBacklog, this.#limits.requestSeconds],
      ...steps.flatMap(({ account, credits }) => [account, credits]),
    ])
    await this.#boundLoss()
    const charges = new Map<ChargeStep, Charge>()
    for (const [at, step] of steps.entries()) {
      const [kind, left] = reply.slice(2 * at)
      if (kind === 'charged' || kind === 'insufficient')
        charges.set(step, { kind, left: Number(left) })
      else if (kind === 'unknown' || kind === 'backlog') charges.set(step, { kind })
    }
    return charges
  }

  async refund(account: string, requestId: string): Promise<void> {
    await this.#script('meterRefund', [
      ...this.#keys(`account:${account}`, 'usage', `request:${requestId}`),
      ...[account, this.#limits.requestSeconds],
    ])
    // A replica may have the charge already.
    await replicated(this.#redis)
  }

  async balance(account: string): Promise<Balance | null> {
    const [run, funded, used, held] = await orMeterUnavailable(
      this.#redis.hmget(this.#key(`account:${account}`), 'run', 'funded', 'used', 'reserved'),
    )
    if (run !== (await this.#readReign())) return null
    const reserved = Number(held)
    return { left: Number(funded) - Number(used) - reserved, reserved }
  }

  async renewBlock(account: string, renewal: BlockRenewal): Promise<BlockGrant> {
    return (await this.#renewSoon({ account, ...renewal })) ?? { kind: 'unknown' }
  }

  async #renewAll(steps: readonly RenewalStep[]): Promise<Map<RenewalStep, BlockGrant>> {
    const keys = this.#keys('usage', 'blocks', ...steps.map(({ account }) => `account:${account}`))
    const reply = await this.#script('meterRenewBlocks', [
      ...[keys.length, ...keys],
      ...[await this.#readReign(), this.#limits.maxBacklog, this.#limits.blockMs],
      ...steps.flatMap(({ account, connection, sequence, spent, wanted }) => [
        account,
        connection,
        sequence,
        spent,
        wanted,
      ]),
    ])
    await this.#boundLoss()
    const grants = new Map<RenewalStep, BlockGrant>()
    for (const [at, step] of steps.entries()) {
      const [kind, credits, left] = reply.slice(3 * at)
      if (kind === 'granted')
        grants.set(step, { kind, credits: Number(credits), left: Number(left) })
      else if (kind === 'backlog') grants.set(step, { kind })
    }
    return grants
  }

  async releaseExpiredBlocks(): Promise<number> {
    let released = 0
    for (let some = RELEASED_AT_ONCE; some === RELEASED_AT_ONCE; released += some) {
      const keys = this.#keys('blocks', 'account:')
      const [count] = await this.#script('meterReleaseBlocks', [...keys, RELEASED_AT_ONCE])
      some = Number(count)
    }
    return released
  }

  async epoch(): Promise<string> {
    const key = this.#key('epoch')
    const known = await orMeterUnavailable(this.#redis.get(key))
    if (known !== null) return known
    await orMeterUnavailable(this.#redis.set(key, randomUUID(), 'NX'))
    return (await orMeterUnavailable(this.#redis.get(key))) ?? ''
  }

  async load(...[at, totals]: Parameters<Meter['load']>) {
    const keys = [...totals.keys()].map((account) => `account:${account}`)
    const own = this.#keys('usage', 'epoch', 'rolled', 'pending', 'reign', ...keys)
    const [outcome] = await this.#script('meterLoad', [
      ...[own.length, ...own, await this.#readReign(), at.epoch, at.rolledTo, randomUUID()],
      ...[...totals].flatMap(([account, { funded, entries, used }]) => [
        account,
        funded,
        entries,
        used,
      ]),
    ])
    if (outcome === 'other_reign') this.#reign = null
    return outcome === 'loaded' ? 'loaded' : 'stale'
  }

  async mayRollUp(): Promise<boolean> {
    const key = this.#key('roller')
    await orMeterUnavailable(this.#redis.set(key, this.#id, 'PX', ROLLER_MS, 'NX'))
    if ((await orMeterUnavailable(this.#redis.get(key))) !== this.#id) return false
    await orMeterUnavailable(this.#redis.pexpire(key, ROLLER_MS))
    return true
  }

  async leaveRollUp(): Promise<void> {
    if (await this.mayRollUp()) await orMeterUnavailable(this.#redis.del(this.#key('roller')))
  }

  async beginRollUp(epoch: string, rolledTo: string): Promise<UsageRange | null> {
    const [from, to, entries, ...usage] = await this.#script('meterBeginRollUp', [
      ...this.#keys('usage', 'epoch', 'pending', 'rolled', 'reign'),
      ...[epoch, rolledTo, this.#limits.rollUpEntries, randomUUID()],
    ])
    if (from === undefined || to === undefined) return null
    // A range of the ledger must survive a failover: the new master repeats it instead of beginning
    // another one at the same entry.
    await replicated(this.#redis)
    return { from: String(from), to: String(to), entries: Number(entries), usage: pairs(usage) }
  }

  async endRollUp(epoch: string, to: string): Promise<void> {
    await this.#script('meterEndRollUp', [
      ...this.#keys('usage', 'epoch', 'pending', 'rolled'),
      ...[epoch, to],
    ])
  }

  async inspect(accounts: readonly string[], at: Parameters<Meter['inspect']>[1]) {
    const found: MeteredAccount[] = []
    for (let start = 0; start < accounts.length; start += INSPECT_AT_ONCE) {
      const some = accounts.slice(start, start + INSPECT_AT_ONCE)
      const [outcome, ...figures] = await this.#script('meterInspect', [
        ...this.#keys('usage', 'epoch', 'rolled', 'account:'),
        ...[await this.#readReign(), at.epoch, at.rolledTo, ...some],
      ])
      if (outcome !== 'ok') return null
      for (let index = 0; index < figures.length; index += 6) {
        const [funded = 0, entries = 0, rolledUp = 0, reserved = 0, blocks = 0] = figures
          .slice(index + 1, index + 6)
          .map(Number)
        const account = String(figures[index])
        found.push({ account, funded, entries, rolledUp, reserved, blocks })
      }
    }
    return found
  }

  async rolledUp(): Promise<RolledUp> {
    const accounts = new Map<string, { funded: number; used: number }>()
    let rolledTo = STREAM_START
    for (const some of [[], ...batches(await this.#accounts(), INSPECT_AT_ONCE)]) {
      const keys = this.#keys('usage', 'rolled', ...some.map((account) => `account:${account}`))
      const [to, ...figures] = await this.#script('meterRolledUp', [keys.length, ...keys, ...some])
      rolledTo = String(to)
      for (const [at, account] of some.entries()) {
        const [funded, used] = figures.slice(2 * at)
        accounts.set(account, { funded: Number(funded), used: Number(used) })
      }
    }
    return { rolledTo, accounts }
  }

  async forget(): Promise<void> {
    for (const account of await this.#accounts())
      await orMeterUnavailable(this.#redis.hset(this.#key(`account:${account}`), 'run', ''))
  }

  /** Every account that the server has, known to this run or not. */
  async #accounts(): Promise<string[]> {
    const prefix = this.#key('account:')
    const found = new Set<string>()
    let cursor = '0'
    do {
      const scan = this.#redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000)
      const [next, keys] = await orMeterUnavailable(scan)
      for (const key of keys) found.add(key.slice(prefix.length))
      cursor = next
    } while (cursor !== '0')
    return [...found]
  }

  async ping(): Promise<void> {
    await orMeterUnavailable(this.#redis.ping())
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  #readReign(): Promise<string> {
    this.#reign ??= this.#script('meterReign', [this.#key('reign')]).then(String, (error) => {
      this.#reign = null
      throw error
    })
    return this.#reign
  }

  /**
   * Resolves once a replica has every write of this connection except those of the last second.
   * After a failover no more than these are missing (rule K12).
   */
  async #boundLoss(): Promise<void> {
    if (performance.now() - this.#replicatedAt < LOST_AT_MOST_MS) return
    this.#replicating ??= this.#replicate().finally(() => {
      this.#replicating = null
    })
    await this.#replicating
  }

  async #replicate(): Promise<void> {
    const sentAt = performance.now()
    await replicated(this.#redis)
    this.#replicatedAt = sentAt
  }

  #key(name: string): string {
    return this.#prefix + name
  }

  #keys(...names: string[]): string[] {
    return names.map((name) => this.#prefix + name)
  }

  /**
   * Runs a script of `redis-scripts.ts` by its hash, or by its text if the server does not have it
   * yet.
   */
  #script(name: scripts.ScriptName, args: (string | number)[]): Promise<unknown[]> {
    // ioredis adds the commands to the client at run time, which its types do not show.
    const client = this.#redis as unknown as Record<
      scripts.ScriptName,
      (...args: (string | number)[]) => Promise<unknown[]>
    >
    return orMeterUnavailable(client[name](...args))
  }
}

interface ChargeStep {
  readonly account: string
  readonly credits: number
  readonly requestId: string
}

interface RenewalStep extends BlockRenewal {
  readonly account: string
}

/** A process that has not rolled up for this long leaves it to others. */
const ROLLER_MS = 3000
/** A failover loses at most the charges of this many milliseconds. */
const LOST_AT_MOST_MS = 1000
/** Charges or renewals in one script call: about a millisecond of work. None waits for another. */
const IN_A_CALL = { most: 100, atOnce: Number.POSITIVE_INFINITY }
/** Expired blocks that one script call refunds. */
const RELEASED_AT_ONCE = 500
/**
 * Maximum number of accounts that one script inspects, because a script blocks all other commands.
 */
const INSPECT_AT_ONCE = 200

function orMeterUnavailable<T>(reply: Promise<T>): Promise<T> {
  return orUnavailable(reply, 'the meter does not answer')
}

function pairs(flat: readonly unknown[]): Map<string, number> {
  const map = new Map<string, number>()
  for (let index = 0; index < flat.length; index += 2)
    map.set(String(flat[index]), Number(flat[index + 1]))
  return map
}
