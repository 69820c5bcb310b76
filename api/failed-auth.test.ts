import { createHash, randomBytes } from 'node:crypto'
import test from 'ava'
import bs58 from 'bs58'
import { createLogger } from '../pipeline/runtime/logger.ts'
import { dateTime } from '../pipeline/store/date-time.ts'
import type { Store } from '../pipeline/store/store.ts'
import { newApiKey } from './accounts/api-key.ts'
import { connectRedis } from './redis-connection.ts'
import { newWallet } from './testing/a-wallet.ts'
import { ask } from './testing/ask.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi } from './testing/start-api.ts'

const { REDIS_URL } = process.env
const onRedis = REDIS_URL ? test : test.skip

/*
 * Invalid credentials are limited for the client that sends them, and for no other client.
 */

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
})
test.after.always(() => opened.remove())

/** A key with a wrong checksum. */
const mistyped = () => {
  const key = newApiKey()
  return `${key.slice(0, -1)}${key.endsWith('2') ? '3' : '2'}`
}

/** The store, which counts each look-up of a key, and delays it while `isHeld`. */
function watchLookUps() {
  const watched = { lookUps: 0, running: 0, mostRunning: 0, isHeld: false, release: () => {} }
  const released = new Promise<void>((resolve) => {
    watched.release = resolve
  })
  const store: Store = {
    ...opened.store,
    async query(sql, params) {
      if (!sql.includes('FROM api_keys')) return opened.store.query(sql, params)
      const { length } = (params as { keys: string[] }).keys // keys of a turn share a query
      watched.lookUps += length
      watched.running += length
      watched.mostRunning = Math.max(watched.mostRunning, watched.running)
      if (watched.isHeld) await released
      try {
        return await opened.store.query(sql, params)
      } finally {
        watched.running -= length
      }
    },
  }
  return { store, watched }
}

test('a client that used up its budget of invalid credentials is refused before a look-up, while keys and tokens known to be valid pass', async (t) => {
  const clock = { now: Date.now() }
  const { store, watched } = watchLookUps()
  const api = await startApi(store, {
    now: () => clock.now,
    config: { failedAuthLimitPerMinute: 3, rateLimitPerMinute: 100, trustedProxies: 1 },
  })
  t.teardown(() => api.close())
  const token = await api.token(newWallet().address)
  const { key } = await api.customer(100)
  const { key: unknown } = await api.customer(100)
  const outcome = async (path: string, credential: string, client = '198.51.100.1') => {
    const headers = { 'x-forwarded-for': client }
    const answer = await ask(api, path, credential, { headers })
    const seconds = (name: string) =>
      answer.headers
        .get(name)
        ?.replace(/\d+$/, (n) => (Number(n) >= 1 && Number(n) <= 60 ? '60' : n))
    const { status, body } = answer
    return status === 429
      ? [
          status,
          body.code,
          answer.headers.get('ratelimit-policy'),
          seconds('ratelimit'),
          seconds('retry-after'),
        ]
      : status
  }
  t.is(await outcome('/wallets', key), 200)

  // Neither counts, because neither is looked up.
  t.is(await outcome('/wallets', ''), 401)
  t.is(await outcome('/wallets', mistyped()), 401)
  t.is(await outcome('/wallets', token), 401)
  t.is(await outcome('/me/api', key), 401)
  const before = watched.lookUps
  t.is(await outcome('/wallets', newApiKey()), 401)
  t.is(await outcome('/me/api', `${token.slice(0, -4)}AAAA`), 401)
  t.is(await outcome('/ws', newApiKey()), 401)
  t.is(watched.lookUps, before + 2)

  const refused = [429, 'rate_limited', '"auth";q=3;w=60', '"auth";r=0;t=60', '60']
  t.deepEqual(await outcome('/wallets', newApiKey()), refused)
  t.deepEqual(await outcome('/ws', newApiKey()), refused)
  t.deepEqual(await outcome('/wallets', unknown), refused)
  t.deepEqual(await outcome('/me/api', `${token.slice(0, -4)}AAAA`), refused)
  t.is(await outcome('/wallets', mistyped()), 401)
  t.is(await outcome('/wallets', ''), 401)
  t.is(watched.lookUps, before + 2)

  // Another customer behind the same address goes on, also when its key must be looked up again.
  t.is(await outcome('/wallets', key), 200)
  clock.now += 60_000
  t.is(await outcome('/wallets', key), 200)
  t.is(watched.lookUps, before + 3)
  t.is(await outcome('/me/api', token), 200)
  t.is(await outcome('/wallets', unknown, '198.51.100.2'), 200)
  t.is(await outcome('/wallets', unknown), 200)
})

test('an IPv6 client has one budget of invalid credentials for its /64, also for concurrent requests', async (t) => {
  const { store, watched } = watchLookUps()
  const api = await startApi(store, {
    config: { failedAuthLimitPerMinute: 5, keyLookUpsAtOnce: 1, trustedProxies: 1 },
  })
  t.teardown(() => api.close())
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      ask(api, '/wallets', newApiKey(), {
        headers: { 'x-forwarded-for': `2001:db8:0:1::${at}` },
      }),
    ),
  )
  t.is(answers.filter(({ status }) => status === 401).length, 5)
  t.is(answers.filter(({ status }) => status === 429).length, 35)
  t.is(watched.lookUps, 5)
})

test('unknown keys are looked up a few at a time and wait in a bounded queue (503); known keys do not wait', async (t) => {
  const clock = { now: Date.now() }
  const { store, watched } = watchLookUps()
  const api = await startApi(store, { now: () => clock.now, config: { keyLookUpsAtOnce: 2 } })
  t.teardown(() => api.close())
  const { key } = await api.customer(100)
  t.is((await ask(api, '/wallets', key)).status, 200)
  const { lookUps } = watched
  watched.isHeld = true
  const waiting = Array.from({ length: 2 + 2 * 64 }, () => ask(api, '/wallets', newApiKey()))
  const over = ask(api, '/wallets', newApiKey())
  const refused = await Promise.race([over, ...waiting])
  t.is(refused.status, 503)
  t.is(refused.body.code, 'unavailable')
  t.is(refused.headers.get('retry-after'), '1')
  t.is((await ask(api, '/wallets', key)).status, 200)
  watched.isHeld = false
  clock.now += 60_000
  t.is((await ask(api, '/wallets', key)).status, 200)
  t.is(watched.lookUps, lookUps + 3)
  watched.release()
  const answers = await Promise.all([over, ...waiting])
  t.is(answers.filter(({ status }) => status === 503).length, 1)
  t.is(answers.filter(({ status }) => status === 401).length, 2 + 2 * 64)
  t.is(watched.mostRunning, 3)
})

test('an old key without a checksum stays valid', async (t) => {
  const api = await startApi(opened.store)
  t.teardown(() => api.close())
  const { address: wallet } = newWallet()
  await api.accounts.create(wallet, 100)
  const old = `tw_${bs58.encode(randomBytes(32))}`
  const key_sha256 = createHash('sha256').update(old).digest('hex')
  const created_at = dateTime(Date.now())
  await opened.store.insert('api_keys', [{ key_sha256, wallet, created_at }])
  await opened.store.insert('accounts', [
    {
      wallet,
      created_at,
      key_sha256,
      key_last4: old.slice(-4),
      key_created_at: created_at,
      key_rotated_at: null,
      version: Date.now() + 60_000,
    },
  ])
  t.is((await ask(api, '/wallets', old)).status, 200)
})

onRedis('processes count invalid credentials together', async (t) => {
  const redis = await connectRedis(new URL(REDIS_URL ?? ''), createLogger('silent'))
  const config = { failedAuthLimitPerMinute: 3, trustedProxies: 1 }
  const start = () => startApi(opened.store, { redis, config })
  const [one, two] = [await start(), await start()]
  t.teardown(async () => {
    await Promise.all([one.close(), two.close()])
    redis.disconnect()
  })
  const client = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`
  const statuses: number[] = []
  for (const api of [one, one, two, two, one, one])
    statuses.push(
      (await ask(api, '/wallets', newApiKey(), { headers: { 'x-forwarded-for': client } })).status,
    )
  // The first process learns with its next invalid key that the budget is used up.
  t.deepEqual(statuses, [401, 401, 401, 429, 401, 429])
})
