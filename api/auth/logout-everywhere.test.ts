import { once } from 'node:events'
import test from 'ava'
import type { Store } from '../../pipeline/store/store.ts'
import type { Billing } from '../billing/billing.ts'
import { createMemoryChannel } from '../channel/account-channel.ts'
import { newWallet, tokenOf } from '../testing/a-wallet.ts'
import { withSwitch } from '../testing/absent-table.ts'
import { ask } from '../testing/ask.ts'
import { connectLossyRedis, REVOCATIONS } from '../testing/lossy-redis.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { connect } from '../testing/start-feed.ts'

/*
 * `POST /auth/logout-everywhere` over HTTP, with real key pairs.
 */

const { REDIS_URL } = process.env
if (!REDIS_URL) test.skip('sign-outs that Redis loses: REDIS_URL is not set', () => {})

/** A clock that stands still: a login after a logout happens in the same millisecond. */
const clock = { now: Math.floor(Date.now() / 1000) * 1000 + 500 }
const now = () => clock.now
/** The clock of a second process over the same store, five seconds ahead. */
const ahead = () => clock.now + 5000
let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  api = await startApi(opened.store, { now })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const everywhere = (of: TestApi, token: string) =>
  ask(of, '/auth/logout-everywhere', token, { method: 'POST' })
const statuses = (of: TestApi, tokens: readonly string[]) =>
  Promise.all(tokens.map(async (token) => (await ask(of, '/me/usage', token)).status))
/** Configuration of a process that shares the token keys of `api`. */
const sameKeys = () => ({ jwtKeys: api.config.jwtKeys, publicUrl: api.url })

test.serial(
  'while the store hangs, a logout is 503 after the timeout of a read, and is effective already',
  async (t) => {
    let hangs = true
    const store: Store = {
      ...opened.store,
      insert: (table, rows) =>
        hangs && table === 'token_generations'
          ? new Promise(() => {})
          : opened.store.insert(table, rows),
    }
    const own = await startApi(store, { config: sameKeys(), readMs: 5000, now })
    const token = await tokenOf(own, newWallet())
    t.is((await everywhere(own, token)).status, 503)
    t.deepEqual(await statuses(own, [token]), [401])
    hangs = false
    await own.close() // writes the row
    const other = await startApi(opened.store, { config: own.config, now })
    t.deepEqual(await statuses(other, [token]), [401])
    await other.close()
  },
)

test.serial(
  'a logout everywhere revokes every earlier token, and none issued after it in the same millisecond',
  async (t) => {
    const [wallet, stranger] = [newWallet(), newWallet()]
    const old = [await tokenOf(api, wallet), await tokenOf(api, wallet)]
    const kept = await tokenOf(api, stranger)
    const answer = await everywhere(api, old[0] ?? '')
    t.deepEqual([answer.status, answer.headers.get('cache-control')], [204, 'no-store'])
    t.deepEqual(await statuses(api, [...old, kept]), [401, 401, 200])
    t.is((await everywhere(api, old[1] ?? '')).status, 401)

    // Repeatedly within one millisecond.
    const next = await tokenOf(api, wallet)
    t.deepEqual(await statuses(api, [next]), [200])
    t.is((await everywhere(api, next)).status, 204)
    const last = await tokenOf(api, wallet)
    t.deepEqual(await statuses(api, [...old, next, last, kept]), [401, 401, 401, 200, 200])

    const again = await startApi(opened.store, { now, config: sameKeys() })
    t.deepEqual(await statuses(again, [...old, next, last, kept]), [401, 401, 401, 200, 200])
    await again.close()
  },
)

test.serial(
  'tokens of a process whose clock is ahead are revoked too, and stay revoked until they expire',
  async (t) => {
    const fast = await startApi(opened.store, { now: ahead, config: sameKeys() })
    const wallet = newWallet()
    const [early, token] = [await tokenOf(fast, wallet), await tokenOf(api, wallet)]
    t.deepEqual(await statuses(api, [early, token]), [200, 200])
    t.is((await everywhere(api, token)).status, 204)
    t.deepEqual(await statuses(api, [early, token]), [401, 401])
    await fast.close()
    const started = clock.now
    clock.now += 12 * 3600_000 + 4000 // one second before the last of the two expires
    const again = await startApi(opened.store, { now, config: sameKeys() })
    t.deepEqual(await statuses(again, [early]), [401])
    await again.close()
    clock.now = started
  },
)

test.serial(
  'a logout everywhere closes the wallet’s dashboards in every process, and leaves the API key and its feed alone',
  async (t) => {
    const channel = createMemoryChannel()
    const expiresAt = clock.now / 1000 + 1000
    // The cast is safe: the dashboard's views call only `pro`.
    const billing = () => ({ pro: async () => ({ active: true, expiresAt }) }) as unknown as Billing
    const config = { ...sameKeys(), connectionsPerKey: 9 }
    const [one, two] = await Promise.all([
      startApi(opened.store, { now, channel, billing, config }),
      startApi(opened.store, { now, channel, billing, config }),
    ])
    const [wallet, stranger] = [newWallet(), newWallet()]
    const { apiKey } = await one.accounts.create(wallet.address, 100)
    const socket = (of: TestApi, bearer: string) =>
      connect(`${of.url.replace('http', 'ws')}/ws`, bearer)
    const token = await tokenOf(one, wallet)
    const ended = [await socket(one, token), await socket(two, await one.token(wallet.address))]
    const staying = [await socket(two, apiKey), await socket(two, await tokenOf(two, stranger))]
    t.is((await everywhere(one, token)).status, 204)
    for (const client of ended) {
      t.deepEqual(await client.take(2), [{ type: 'token_revoked' }])
      t.is(await client.closed, 1008)
    }
    for (const client of staying) t.deepEqual(await client.fence(), [])
    t.is((await ask(one, '/auth/nonce', apiKey)).status, 405)
    t.is((await ask(two, '/trades', apiKey)).status, 200)
    await Promise.all([one.close(), two.close()])
  },
)

test.serial(
  'while the store is down a logout everywhere is 503 but effective here; once the store is back it is permanent',
  async (t) => {
    const switched = withSwitch(opened.store, 'token_generations')
    const away = await startApi(switched.store, { now, config: sameKeys() })
    const wallet = newWallet()
    const tokens = [await tokenOf(away, wallet), await tokenOf(away, wallet)]
    switched.isAway = true
    t.is((await everywhere(away, tokens[0] ?? '')).status, 503)
    t.deepEqual(await statuses(away, tokens), [401, 401])
    switched.isAway = false
    await away.close()
    const again = await startApi(opened.store, { now, config: sameKeys() })
    t.deepEqual(await statuses(again, tokens), [401, 401])
    await again.close()
  },
)

const onRedis = REDIS_URL ? test.serial : test.serial.skip
onRedis(
  'logouts everywhere that Redis loses are read again before a token is accepted or issued',
  async (t) => {
    const lossy = await connectLossyRedis(12)
    t.teardown(lossy.close)
    const { redis } = lossy
    const switched = withSwitch(opened.store, 'token_generations')
    const own = await startApi(switched.store, { redis, now })
    t.teardown(() => own.close())
    const wallet = newWallet()
    const old = await tokenOf(own, wallet)
    t.is((await everywhere(own, old)).status, 204)
    const next = await tokenOf(own, wallet)
    t.deepEqual(await statuses(own, [old, next]), [401, 200])

    await redis.del(REVOCATIONS)
    switched.isAway = true
    t.deepEqual(await statuses(own, [old, next]), [503, 503])
    switched.isAway = false
    t.deepEqual(await statuses(own, [old, next]), [401, 200])

    // Redis has lost the revocation but not the mark, which says that no entry is missing.
    await redis.zrem(REVOCATIONS, wallet.address)
    const isBack = once(redis, 'ready')
    lossy.cut()
    await isBack
    clock.now += 10_000 // nonces issued before the loss, by any clock, are refused
    const later = await tokenOf(own, wallet)
    t.deepEqual(await statuses(own, [old, next, later]), [401, 200, 200])
  },
)
