import test from 'ava'
import { addressFromBytes } from '../pipeline/domain/address.ts'
import type { QueryParams, Store } from '../pipeline/store/store.ts'
import { NO_ACCOUNT_LIMITS } from './config.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi } from './testing/start-api.ts'

/*
 * Limits of one account, for requests from any address (rules D2, D6).
 */

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
})
test.after.always(() => opened.remove())

const MINTS = Array.from({ length: 40 }, (_, n) => addressFromBytes(new Uint8Array(32).fill(n + 1)))
const pathOf = (mint = 0) => `/tokens/${MINTS[mint]}/wallet-aggregates`

const usagePath = (hours: number) => `/me/usage?by=hour&limit=${hours}`

/**
 * The embedded store. The test controls when its reads of one mint, or of usage by hours, resolve.
 */
function holdReads() {
  const begun: number[] = []
  const ends = new Map<number, () => void>()
  let wake = () => {}
  const store: Store = {
    ...opened.store,
    kind: 'clickhouse', // so that reads of two accounts go on at the same time
    async query<T>(sql: string, params: QueryParams = {}) {
      const held = MINTS.indexOf(params.mint as (typeof MINTS)[number])
      const name =
        sql.includes("cause = 'usage'") && 'length' in params ? Number(params.count) : held
      if (name !== -1) {
        begun.push(name)
        wake()
        await new Promise<void>((resolve) => ends.set(name, resolve))
      }
      return opened.store.query<T>(sql, params)
    },
  }
  return {
    store,
    begun,
    end: (...names: number[]) => {
      for (const name of names) ends.get(name)?.()
    },
    async until(count: number) {
      while (begun.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
  }
}

let addresses = 0
/** Sends a request from a new address. */
async function ask(url: string, path: string, bearer: string, init: RequestInit = {}) {
  const { status, headers } = await fetch(`${url}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${bearer}`,
      'x-forwarded-for': `198.51.100.${++addresses}`,
    },
  })
  const seconds = (name: string) =>
    headers.get(name)?.replace(/(?<=^|t=)([1-5]?\d|60)(?=,|$)/g, 's')
  return {
    status,
    policy: headers.get('ratelimit-policy'),
    left: seconds('ratelimit') ?? null,
    retry: seconds('retry-after') ?? null,
    cost: headers.get('x-credits-cost'),
  }
}

test('an account has a number of requests a minute, from any address; beyond it a request is 429, after 401 and before all else, and costs nothing (rules D2, D6)', async (t) => {
  const api = await startApi(opened.store, {
    config: {
      rateLimitPerMinute: 2,
      trustedProxies: 1,
      accountLimits: { ...NO_ACCOUNT_LIMITS, requestsPerMinute: 3 },
    },
  })
  const [alice, bob] = [await api.customer(100), await api.customer(100)]
  const both = '"default";q=2;w=60, "account";q=3;w=60'
  const answer = (status: number, left: number) => ({
    status,
    policy: both,
    retry: null,
    cost: status === 200 ? '1' : '0',
    left: `"default";r=1;t=s, "account";r=${left};t=s`,
  })
  const refused = {
    status: 429,
    policy: '"account";q=3;w=60',
    left: '"account";r=0;t=s',
    retry: 's',
    cost: '0',
  }
  t.deepEqual(await ask(api.url, '/wallets', alice.key), answer(200, 2))
  t.deepEqual(await ask(api.url, '/wallets?page=x', alice.key), answer(400, 1))
  t.deepEqual(await ask(api.url, '/ws', alice.key), answer(426, 0), 'the feed counts too')
  for (const path of ['/wallets', '/wallets?page=x', '/wallets/W9/metrics', '/ws'])
    t.deepEqual(await ask(api.url, path, alice.key), refused)
  t.is((await ask(api.url, '/wallets', 'tw_none')).status, 401)
  t.deepEqual(await ask(api.url, '/wallets', bob.key), answer(200, 2))
  t.is(await api.credits.left(alice.wallet), 99)
  // The rate limit of the client is checked before that of the account.
  addresses = 250
  for (const status of [200, 200]) {
    t.is((await ask(api.url, '/wallets', bob.key)).status, status)
    addresses = 250
  }
  t.is((await ask(api.url, '/wallets', alice.key)).policy, '"default";q=2;w=60')
  await api.close()
})

test('an account has a number of concurrent requests; one more is 429 and costs nothing, and other accounts are answered', async (t) => {
  const held = holdReads()
  const api = await startApi(held.store, {
    config: {
      trustedProxies: 1,
      accountLimits: { ...NO_ACCOUNT_LIMITS, concurrentRequests: 2 },
    },
  })
  const [alice, bob] = [await api.customer(100), await api.customer(100)]
  const waiting = [0, 1].map((mint) => ask(api.url, pathOf(mint), alice.key))
  await held.until(2)
  t.deepEqual(await ask(api.url, '/wallets', alice.key), {
    status: 429,
    retry: 's',
    cost: '0',
    left: '"account-concurrent";r=0;t=s',
    policy: '"account-concurrent";q=2;qu="concurrent-requests"',
  })
  t.is((await ask(api.url, '/wallets', bob.key)).status, 200)
  held.end(0, 1)
  t.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200],
  )
  t.is((await ask(api.url, '/wallets', alice.key)).status, 200)
  t.is(await api.credits.left(alice.wallet), 100 - 2 * 3 - 1)
  await api.close()
})

test('reads of one account wait for each other, but not for other accounts, also if they wait for the same response', async (t) => {
  const held = holdReads()
  const api = await startApi(held.store, {
    config: { trustedProxies: 1, accountLimits: { ...NO_ACCOUNT_LIMITS, storeReads: 1 } },
  })
  const [alice, bob] = [await api.customer(100), await api.customer(100)]
  const first = ask(api.url, pathOf(0), alice.key)
  await held.until(1)
  const others: ReturnType<typeof ask>[] = []
  for (let mint = 1; mint <= 30; mint++) others.push(ask(api.url, pathOf(mint), alice.key))
  while ((await api.credits.left(alice.wallet)) > 100 - 31 * 3)
    await new Promise((resolve) => setImmediate(resolve)) // until all are charged and queued
  t.deepEqual(held.begun, [0])
  // The last read in the queue of the first account is the first of the second account.
  others.push(ask(api.url, pathOf(30), bob.key))
  await held.until(2)
  t.deepEqual(held.begun, [0, 30])
  held.end(0)
  await held.until(3)
  t.deepEqual(held.begun, [0, 30, 1], 'then the next read of the first account')
  held.end(30)
  for (let mint = 1; mint < 30; mint++) {
    await held.until(2 + mint)
    held.end(mint)
  }
  const answers = await Promise.all([first, ...others])
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.is(held.begun.length, 31, 'one read for both')
  await api.close()
})

test('dashboards of a wallet have their own limits of requests a minute and at the same time; a logout is never refused', async (t) => {
  const held = holdReads()
  const api = await startApi(held.store, {
    config: {
      trustedProxies: 1,
      accountLimits: {
        ...NO_ACCOUNT_LIMITS,
        dashboardRequestsPerMinute: 3,
        dashboardConcurrentRequests: 2,
      },
    },
  })
  const { key, wallet } = await api.customer(100)
  const [one, two] = [await api.token(wallet), await api.token(wallet)]
  const waiting = [1, 2].map((hours) => ask(api.url, usagePath(hours), one))
  await held.until(2)
  t.like(await ask(api.url, usagePath(3), two), {
    status: 429,
    policy: '"dashboard-concurrent";q=2;qu="concurrent-requests"',
  })
  held.end(1, 2)
  t.deepEqual(
    (await Promise.all(waiting)).map(({ status, policy }) => [status, policy]),
    Array(2).fill([200, '"dashboard";q=3;w=60']),
  )
  const refused = {
    status: 429,
    policy: '"dashboard";q=3;w=60',
    left: '"dashboard";r=0;t=s',
    retry: 's',
    cost: null,
  }
  for (const path of ['/me/api', '/billing/credits/topups', '/me/watchlists/trending'])
    t.deepEqual(await ask(api.url, path, two), refused)
  t.is((await ask(api.url, '/ws', two)).status, 429)
  t.is((await ask(api.url, '/wallets', key)).status, 200, 'the key has its own budget')
  t.is((await ask(api.url, '/auth/logout', one, { method: 'POST' })).status, 204)
  await api.close()
})
