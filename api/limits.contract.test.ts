import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../pipeline/runtime/logger.ts'
import { NO_ACCOUNT_LIMITS } from './config.ts'
import { createRedisMeter } from './credits/redis.ts'
import { connectRedis } from './redis-connection.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

const { REDIS_URL } = process.env
const onRedis = REDIS_URL ? test : test.skip
let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
})
test.after.always(() => opened.remove())

const named = REDIS_URL ? '' : ' (skipped: REDIS_URL is not set)'

onRedis(
  `a call over the limit costs nothing and is refused before all else, though limit and charge run concurrently (rules D2, D5, D6)${named}`,
  async (t) => {
    const logger = createLogger('silent')
    const url = new URL(REDIS_URL ?? '')
    const redis = await connectRedis(url, logger, { enableAutoPipelining: true })
    const prefix = `test:${randomBytes(8).toString('hex')}:`
    const meter = await createRedisMeter(url, { logger }, { prefix })
    const api = await startApi(opened.store, {
      redis,
      meter,
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
    // From here on the key is cached; a look-up would wait for the limit.
    t.is(await ask('/wallets', key), '200 r=3 1')
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
  },
)

onRedis(
  `an account's calls over its limit cost nothing, from any address, though limits and charge run concurrently (rules D2, D5, D6)${named}`,
  async (t) => {
    const logger = createLogger('silent')
    const url = new URL(REDIS_URL ?? '')
    const redis = await connectRedis(url, logger, { enableAutoPipelining: true })
    const prefix = `test:${randomBytes(8).toString('hex')}:`
    const meter = await createRedisMeter(url, { logger }, { prefix })
    const api = await startApi(opened.store, {
      redis,
      meter,
      config: {
        rateLimitPerMinute: 2,
        trustedProxies: 1,
        accountLimits: { ...NO_ACCOUNT_LIMITS, requestsPerMinute: 4 },
      },
    })
    const { key, wallet } = await api.customer(100)
    const network = `2001:db8:${randomBytes(2).toString('hex')}`
    const ask = async (path: string, client: number) => {
      const { status, headers } = await fetch(`${api.url}${path}`, {
        headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': `${network}:${client}::1` },
      })
      const left = headers.get('ratelimit')?.replaceAll(/;t=\d+/g, '')
      return [status, left, headers.get('x-credits-cost')].join(' ')
    }
    const allowed = (left: number) => `200 "default";r=1, "account";r=${left} 1`
    const refused = '429 "account";r=0 0'
    // From here on the key is cached; a look-up would wait for the limit.
    t.is(await ask('/wallets', 1), allowed(3))
    const together = await Promise.all([2, 3, 4, 5, 6].map((client) => ask('/wallets', client)))
    const last = [allowed(0), allowed(1), allowed(2)]
    t.deepEqual(together.toSorted(), [...last, refused, refused].toSorted())
    t.is(await ask('/wallets?page=x', 7), refused)
    t.is(await api.credits.left(wallet), 96)
    await api.close()
    redis.disconnect()
  },
)

onRedis(
  `a dashboard request over the limit has no effect, though the limit is counted meanwhile (rules D2, D6)${named}`,
  async (t) => {
    const logger = createLogger('silent')
    const url = new URL(REDIS_URL ?? '')
    const redis = await connectRedis(url, logger, { enableAutoPipelining: true })
    const config = { accountLimits: { ...NO_ACCOUNT_LIMITS, dashboardRequestsPerMinute: 2 } }
    const [first, other] = [
      await startApi(opened.store, { redis, config }),
      await startApi(opened.store, { redis, config }),
    ]
    t.teardown(async () => {
      await Promise.all([first.close(), other.close()])
      redis.disconnect()
    })
    const { wallet } = await first.customer(100)
    const makeKey = async (api: TestApi) => {
      const response = await fetch(`${api.url}/me/keys`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await api.token(wallet)}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'a program', scopes: ['read'] }),
      })
      return response.status
    }
    t.deepEqual([await makeKey(first), await makeKey(first)], [201, 201])
    t.is(await makeKey(other), 429, 'only Redis knows that the limit is used up')
    t.is((await other.accounts.namedKeys.list(wallet)).length, 2)
  },
)
