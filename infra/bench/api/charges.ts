import { randomUUID } from 'node:crypto'
import { createRedisMeter } from '../../../api/credits/redis.ts'
import { readRedisUrl } from '../../../api/redis-url.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { cpuSeconds } from '../kit/cpu.ts'

const ACCOUNTS = 100
const AT_ONCE = 1000

/** Speed and CPU of charges. */
export interface Charges {
  readonly perSecond: number
  /** Microseconds of CPU of this process for each charge. */
  readonly cpuUs: number
}

/**
 * Charges requests of 100 accounts for a time, 1,000 under way at once, and rolls their usage up
 * meanwhile as the service does, without a ledger. Rejects when a charge is refused.
 */
export async function chargeFor(seconds: number, redisUrl: string): Promise<Charges> {
  const url = readRedisUrl(redisUrl)
  if (url === undefined) throw new Error('not a URL of Redis')
  const meter = await createRedisMeter(url, { logger: createLogger('warn') })
  try {
    const epoch = await meter.epoch()
    let rolledTo = '0-0'
    const rollUp = async () => {
      for (;;) {
        const range = await meter.beginRollUp(epoch, rolledTo)
        if (range === null) return
        await meter.endRollUp(epoch, range.to)
        rolledTo = range.to
      }
    }
    const accounts = Array.from({ length: ACCOUNTS }, () => randomUUID())
    for (const account of accounts)
      await meter.load(
        { epoch, rolledTo },
        new Map([[account, { funded: 1e12, entries: 1, used: 0 }]]),
      )
    let charged = 0
    let rolling = Promise.resolve()
    const timer = setInterval(() => {
      rolling = rolling.then(rollUp)
    }, 1000)
    const cpu = cpuSeconds(process.pid)
    const started = performance.now()
    const caller = async (number: number) => {
      while (performance.now() - started < seconds * 1000) {
        const account = accounts[number % ACCOUNTS] ?? ''
        const { kind } = await meter.charge(account, 1, randomUUID())
        if (kind !== 'charged') throw new Error(`a charge was refused: ${kind}`)
        charged++
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => caller(number)))
    const took = (performance.now() - started) / 1000
    const cpuUs = ((cpuSeconds(process.pid) - cpu) * 1e6) / charged
    clearInterval(timer)
    await rolling
    return { perSecond: charged / took, cpuUs }
  } finally {
    await meter.close()
  }
}
