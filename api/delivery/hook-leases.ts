import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { orUnavailable, type Redis, replicated } from '../redis-connection.ts'

/** Webhooks are shared out in so many parts. */
export const PARTS = 32

/** Which parts of the webhooks this process has. Among several processes each part has one. */
export interface HookLeases {
  /**
   * Keeps the parts that this process has, and takes those that are free up to its fair share.
   * Call it every second. Rejects with `unavailable` when Redis does not answer.
   */
  renew(): Promise<void>
  /** The parts that this process has now. */
  held(): ReadonlySet<number>
  /** How many parts this process has above its fair share: it should give so many away. */
  surplus(): number
  /** Gives a part away. Call it when nothing of it runs any more. */
  release(part: number): Promise<void>
  /** Leaves: other processes share the parts among them. */
  close(): Promise<void>
}

/** The part of a webhook. */
export function partOf(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) % PARTS
}

/** The only process has every part. */
export const ALONE: HookLeases = {
  async renew() {},
  held: () => ALL,
  surplus: () => 0,
  async release() {},
  async close() {},
}
const ALL: ReadonlySet<number> = new Set(Array.from({ length: PARTS }, (_, part) => part))

/** Leases in Redis, for several processes. They end `heldMs` after the last renewal. */
export function createHookLeases(
  redis: Redis,
  heldMs = 10_000,
  prefix = 'tw:{webhooks}:',
): HookLeases {
  const own = randomUUID()
  const keys = [`${prefix}processes`, ...[...ALL].map((part) => `${prefix}part:${part}`)]
  let held = new Set<number>()
  let processes = 1
  /** Monotonic milliseconds, counted from before the request. */
  let heldUntil = 0
  const share = () => Math.ceil(PARTS / processes)
  return {
    async renew() {
      const until = performance.now() + heldMs
      const told = (await orUnavailable(
        redis.eval(RENEW, keys.length, ...keys, own, heldMs, PARTS),
        SILENT,
      )) as readonly number[]
      const [count = 1, ...parts] = told.map(Number)
      // Else another process could take a part again after a failover.
      if (parts.some((part) => !held.has(part))) await replicated(redis)
      processes = count
      held = new Set(parts)
      heldUntil = until
    },
    held: () => (performance.now() < heldUntil ? held : NONE),
    surplus: () => Math.max(0, held.size - share()),
    async release(part) {
      held.delete(part)
      await orUnavailable(redis.eval(RELEASE, 1, keys[part + 1] ?? '', own), SILENT)
    },
    async close() {
      const parts = [...held]
      held = new Set()
      await Promise.all(parts.map((part) => redis.eval(RELEASE, 1, keys[part + 1] ?? '', own)))
      await redis.zrem(keys[0] ?? '', own)
    },
  }
}

/** Throws `unavailable` unless this process has the part. */
export function requirePart(leases: HookLeases, part: number): void {
  if (!leases.held().has(part))
    throw new ServiceError('unavailable', 'another process may have the webhook')
}

const NONE: ReadonlySet<number> = new Set()
const SILENT = 'Redis does not answer'

/**
 * KEYS: processes, then the parts. ARGV: this process, milliseconds, number of parts. Returns the
 * number of processes, then the parts of this one.
 */
const RENEW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local processes = redis.call('ZCARD', KEYS[1])
local share = math.ceil(ARGV[3] / processes)
local told, free = {processes}, {}
for at = 2, #KEYS do
  local owner = redis.call('GET', KEYS[at])
  if owner == ARGV[1] then
    redis.call('PEXPIRE', KEYS[at], ARGV[2])
    told[#told + 1] = at - 2
  elseif not owner then
    free[#free + 1] = at
  end
end
for _, at in ipairs(free) do
  if #told - 1 >= share then break end
  redis.call('SET', KEYS[at], ARGV[1], 'PX', ARGV[2])
  told[#told + 1] = at - 2
end
return told
`
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
