import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../pipeline/runtime/logger.ts'
import { createRedisMeter } from './credits/redis.ts'
import { connectRedis } from './redis-connection.ts'
import { openEmbeddedStore } from './testing/open-stores.ts'
import { markStored, trackWallets } from './testing/rows.ts'
import { startApi } from './testing/start-api.ts'

const { REDIS_URL } = process.env
const onRedis = REDIS_URL ? test : test.skip
const named = REDIS_URL ? '' : ' (skipped: REDIS_URL is not set)'

onRedis(
  `a call over the limit costs nothing and is told so before anything else, though limit and charge ask Redis together (decisions D2, D5, D6)${named}`,
  async (t) => {
    const logger = createLogger('silent')
    const url = new URL(REDIS_URL ?? '')
    const opened = await openEmbeddedStore()
    await trackWallets(opened.store, 1)
    await markStored(opened.store, 100)
    const redis = await connectRedis(url, logger, { enableAutoPipelining: true })
    const prefix = `test:${randomBytes(8).toString('hex')}:`
    const meter = await createRedisMeter(url, { logger }, { prefix })
    const api = await startApi(opened.store, {
      ...{ redis, meter },
      config: { rateLimitPerMinute: 4, trustedProxies: 1 },
    })
    const { key, wallet } = await api.customer(100)
    const client = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`
    const ask = async (path: string, given: string) => {
      const { status, headers } = await fetch(`${api.url}${path}`, {
        headers: { authorization: `Bearer ${given}`, 'x-forwarded-for': client },
      })
      const left = headers.get('ratelimit')?.split(';')[1]
      return [status, left, headers.get('x-credits-cost')].join(' ')
    }
    t.is(await ask('/wallets', key), '200 r=3 1') // from now on the key needs no look-up, which would wait for the limit
    const together = await Promise.all(Array.from({ length: 6 }, () => ask('/wallets', key)))
    t.deepEqual(together.toSorted(), [
      '200 r=0 1',
      '200 r=1 1',
      '200 r=2 1',
      ...Array(3).fill('429 r=0 0'),
    ])
    t.is(await api.credits.left(wallet), 96)
    const after = [await ask('/wallets', 'tw_none'), await ask('/wallets?page=x', key)]
    t.deepEqual(after, Array(2).fill('429 r=0 0'))
    t.is(await api.credits.left(wallet), 96)
    await api.close()
    redis.disconnect()
    await opened.drop()
  },
)
