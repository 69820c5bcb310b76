import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import test from 'ava'
import { pino } from 'pino'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createAccountLocks, type HeldLock } from '../account-locks.ts'
import {
  type AccountChannel,
  type AccountListener,
  createMemoryChannel,
} from '../channel/account-channel.ts'
import { createRedisChannel } from '../channel/redis.ts'
import { connectRedis } from '../redis-connection.ts'
import { newWallet, tokenOf } from '../testing/a-wallet.ts'
import { ask } from '../testing/ask.ts'
import { forwardTo } from '../testing/forwarder.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets, markStored } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { connect } from '../testing/start-feed.ts'

/*
 * `GET /me/api` and `POST /me/api/rotate` over HTTP (contract 2.7, 3, 4.4; rule E3).
 */

const { REDIS_URL } = process.env
if (!REDIS_URL) test.skip('accounts with several processes: REDIS_URL is not set', () => {})

const clock = { now: 1_790_000_000_000 }
const registry = createRegistry()
let opened: TestStore
let store: Store
let api: TestApi
let logged = ''

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 3)
  await markStored(opened.store, 100)
  store = opened.store
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  const logger = pino({ level: 'debug' }, sink)
  api = await startApi(store, { registry, now: () => clock.now, logger })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const me = (token: string, of: TestApi = api) => ask(of, '/me/api', token)
const rotate = (token: string, of: TestApi = api) =>
  ask(of, '/me/api/rotate', token, { method: 'POST' })
const wallets = async (key: unknown, of: TestApi = api) =>
  (await ask(of, '/wallets', String(key))).status
const RAW = /^tw_[1-9A-HJ-NP-Za-km-z]{36,50}$/

test.serial(
  'with FIRST_CREDITS the first accounts of a day get credits with their first key, once; later ones get none (rule L19)',
  async (t) => {
    const giving = await startApi(store, {
      config: { firstCredits: { credits: 5, accountsPerDay: 2 } },
    })
    t.teardown(() => giving.close())
    const tokens = await Promise.all([1, 2, 3].map(() => tokenOf(giving, newWallet())))
    const [one = '', two = '', three = ''] = tokens
    const balance = async (answer: ReturnType<typeof ask>) => (await answer).body.balance_credits
    t.is(await balance(me(one, giving)), 5)
    t.is(await balance(me(one, giving)), 5)
    t.is(await balance(rotate(one, giving)), 5)
    const first = await rotate(two, giving) // its first key
    t.is(first.body.balance_credits, 5)
    t.is(await wallets(first.body.api_key, giving), 200)
    t.is(await balance(me(two, giving)), 4)
    t.is(await balance(me(three, giving)), 0)
    t.deepEqual((await giving.ledger.check()).mismatches, [])
  },
)

test.serial(
  'the first call creates account and key and shows the key once; a rotation shows another and invalidates the first',
  async (t) => {
    const wallet = newWallet()
    const token = await tokenOf(api, wallet)
    const first = await me(token)
    t.is(first.status, 200)
    t.is(first.headers.get('cache-control'), 'no-store')
    const { api_key, ...rest } = first.body
    t.regex(String(api_key), RAW)
    const account = {
      wallet: wallet.address,
      api_key_last4: String(api_key).slice(-4),
      balance_credits: 0,
      reserved_credits: 0,
      api_key_created_at: 1_790_000_000,
      api_key_rotated_at: null,
      last_used_at: null,
    }
    t.deepEqual(rest as object, account)
    t.deepEqual((await me(token)).body as object, { ...account, api_key: null })
    t.is(await wallets(api_key), 402)
    await api.accounts.adjust(wallet.address, 10, 'test', 'one')
    clock.now += 60_000
    t.is(await wallets(api_key), 200)
    const used = { ...account, balance_credits: 9, last_used_at: 1_790_000_060 }
    t.deepEqual((await me(token)).body as object, { ...used, api_key: null })

    clock.now += 60_000
    const rotated = await rotate(token)
    t.is(rotated.status, 200)
    const { api_key: next } = rotated.body
    t.regex(String(next), RAW)
    t.not(next, api_key)
    const after = {
      ...used,
      api_key_last4: String(next).slice(-4),
      api_key_rotated_at: 1_790_000_120,
    }
    t.deepEqual(rotated.body as object, { ...after, api_key: next })
    t.is(await wallets(api_key), 401)
    t.is(await wallets(next), 200)
    t.deepEqual((await me(token)).body as object, {
      ...after,
      api_key: null,
      balance_credits: 8,
      last_used_at: 1_790_000_120,
    })
    // Another login of the wallet gets the same account.
    t.is((await me(await tokenOf(api, wallet))).body.api_key_last4, after.api_key_last4)
  },
)

test.serial(
  'of thirty concurrent first calls one gets the key, and that key is valid',
  async (t) => {
    const token = await api.token(newWallet().address)
    const answers = await Promise.all(Array.from({ length: 30 }, () => me(token)))
    t.true(answers.every(({ status }) => status === 200))
    const shown = answers.map(({ body }) => body.api_key).filter((key) => key !== null)
    t.is(shown.length, 1)
    t.is(await wallets(shown[0]), 402)
    t.is(new Set(answers.map(({ body }) => body.api_key_last4)).size, 1)
  },
)

test.serial(
  'of ten concurrent rotations the last key is valid; a rotation without a key creates the first',
  async (t) => {
    const token = await api.token(newWallet().address)
    const first = await rotate(token)
    t.is(first.body.api_key_rotated_at, null)
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(token)))
    const keys = answers.map(({ body }) => body.api_key)
    t.is(new Set(keys).size, 10)
    const statuses = await Promise.all([first.body.api_key, ...keys].map((key) => wallets(key)))
    t.is(statuses.filter((status) => status === 402).length, 1)
    t.is(statuses.filter((status) => status === 401).length, 10)
  },
)

test.serial(
  'a rotation ends the old key at once, in every process: cached calls and sockets',
  async (t) => {
    const channel = createMemoryChannel()
    const [one, two] = [await startApi(store, { channel }), await startApi(store, { channel })]
    const wallet = newWallet()
    const token = await one.token(wallet.address)
    const key = String((await me(token, one)).body.api_key)
    await one.accounts.adjust(wallet.address, 100, 'test', 'one')
    t.deepEqual([await wallets(key, one), await wallets(key, two)], [200, 200])
    const sockets = await Promise.all(
      [two].map((of) => connect(`${of.url.replace('http', 'ws')}/ws`, key)),
    )
    const next = (await rotate(token, one)).body.api_key
    t.deepEqual([await wallets(key, one), await wallets(key, two)], [401, 401])
    t.deepEqual([await wallets(next, one), await wallets(next, two)], [200, 200])
    for (const socket of sockets) {
      t.is(await socket.closed, 1008)
      t.deepEqual(socket.received.at(-1), { type: 'key_rotated' })
    }
    await Promise.all([one.close(), two.close()])
  },
)

/** A channel that announces nothing. While it is away, changes are missed. */
function aDeafChannel() {
  const heard: AccountListener[] = []
  let isUp = true
  const channel: AccountChannel = {
    ...createMemoryChannel(),
    get isUp() {
      return isUp
    },
    listen: (listener) => void heard.push(listener),
  }
  return {
    channel,
    heard,
    goAway() {
      isUp = false
    },
    comeBack() {
      isUp = true
      for (const listener of heard) listener.onBack(clock.now)
    },
  }
}

test.serial(
  'a rotation ends the old key also in a process that missed the announcement',
  async (t) => {
    const deaf = aDeafChannel()
    const [one, two] = [await startApi(store), await startApi(store, { channel: deaf.channel })]
    const wallet = newWallet()
    const token = await one.token(wallet.address)
    const key = (await me(token, one)).body.api_key
    t.is(await wallets(key, two), 402)
    deaf.goAway()
    t.is((await rotate(token, one)).status, 200)
    deaf.comeBack()
    t.is(await wallets(key, two), 401)
    await Promise.all([one.close(), two.close()])
  },
)

test.serial(
  'a disabled account is refused at once, in every process, and goes on with its credits once enabled (rule E3)',
  async (t) => {
    const channel = createMemoryChannel()
    const one = await startApi(store, { channel })
    const config = { jwtKeys: one.config.jwtKeys, publicUrl: one.url }
    const two = await startApi(store, { channel, config })
    const servers = [one, two]
    const wallet = newWallet()
    const token = await one.token(wallet.address)
    const key = String((await me(token, one)).body.api_key)
    const set = async (isDisabled: boolean) => {
      await one.accounts.setDisabled(wallet.address, isDisabled)
      await channel.accessChanged(wallet.address, isDisabled)
    }
    const outcomes = async (server: TestApi) => {
      const calls = [
        ['/wallets', key],
        ['/ws', key],
        ['/me/api', token],
        ['/me/events', token],
      ] as const
      const answers = await Promise.all(
        calls.map(([path, credential]) => ask(server, path, credential)),
      )
      return answers.map(({ status, body }) => body.code ?? status)
    }
    await one.accounts.adjust(wallet.address, 100, 'test', 'one')
    const enabled = [200, 'upgrade_required', 200, 200]
    t.deepEqual(await Promise.all(servers.map(outcomes)), [enabled, enabled])
    const before = (await me(token, one)).body
    const socket = await connect(`${two.url.replace('http', 'ws')}/ws`, key)
    await set(true)
    t.is(await socket.closed, 1008)
    t.deepEqual(socket.received.at(-1), { type: 'account_disabled' })
    const disabled = Array(4).fill('account_disabled')
    t.deepEqual(await Promise.all(servers.map(outcomes)), [disabled, disabled])
    t.is((await ask(one, '/wallets', key)).status, 403)
    t.is((await me(await two.token(wallet.address), two)).status, 403, 'a new login')
    // A token that may have been stolen can be revoked all the same.
    const other = await one.token(wallet.address)
    t.is((await ask(one, '/auth/logout', other, { method: 'POST' })).status, 204)
    await set(false)
    t.deepEqual((await me(token, one)).body, before)
    t.deepEqual(await Promise.all(servers.map(outcomes)), [enabled, enabled])
    await Promise.all([one.close(), two.close()])
  },
)

test.serial(
  'a disabled account is refused also in a process that missed the announcement, and a read under way does not hide it',
  async (t) => {
    const deaf = aDeafChannel()
    let held: { readonly read: Promise<void>; readonly pass: Promise<void>; begin(): void } | null
    held = null
    let reads = 0
    const slow: Store = {
      ...store,
      async query(...args) {
        const rows = await store.query(...args)
        if (!args[0].includes('FROM accounts')) return rows as never
        reads++
        if (held === null) return rows as never
        held.begin()
        await held.pass
        return rows as never
      },
    }
    const server = await startApi(slow, { channel: deaf.channel })
    const wallet = newWallet()
    const token = await server.token(wallet.address)
    const key = String((await me(token, server)).body.api_key)
    t.is(await wallets(key, server), 402)
    deaf.goAway()
    await server.accounts.setDisabled(wallet.address, true)
    t.is(await wallets(key, server), 403)
    await server.accounts.setDisabled(wallet.address, false)
    deaf.comeBack()
    t.is(await wallets(key, server), 402)

    // The look-up of a key shows it too, so that calls with a key need no other read.
    deaf.comeBack()
    reads = 0
    t.deepEqual([await wallets(key, server), await wallets(key, server)], [402, 402])
    t.is(reads, 1)

    // A token's request has read that the account is enabled when it is disabled.
    deaf.comeBack()
    let pass = () => {}
    let begin = () => {}
    const read = new Promise<void>((resolve) => {
      begin = resolve
    })
    held = { read, begin, pass: new Promise<void>((resolve) => (pass = resolve)) }
    const answer = ask(server, '/me/events', token)
    await read
    held = null
    await server.accounts.setDisabled(wallet.address, true)
    for (const listener of deaf.heard) listener.onAccessChanged(wallet.address, true)
    pass()
    t.is((await answer).status, 403)
    await server.close()
  },
)

test.serial('a rotation that could not be announced shows no key; the next one does', async (t) => {
  let isAway = true
  const memory = createMemoryChannel()
  const channel: AccountChannel = {
    ...memory,
    async rotated(account, keySha256) {
      await memory.rotated(account, keySha256)
      if (isAway) throw new ServiceError('unavailable', 'away', { retriable: true })
    },
  }
  const one = await startApi(store, { channel })
  const token = await one.token(newWallet().address)
  const key = (await me(token, one)).body.api_key
  t.is(await wallets(key, one), 402)
  const lost = await rotate(token, one)
  t.like(lost, { status: 503, body: { code: 'unavailable', api_key: undefined } })
  t.is(await wallets(key, one), 401)
  const account = (await me(token, one)).body
  t.is(account.api_key, null)
  t.not(account.api_key_last4, String(key).slice(-4))
  isAway = false
  const next = await rotate(token, one)
  t.is(next.status, 200)
  t.is(await wallets(next.body.api_key, one), 402)
  await one.close()
})

const onRedis = REDIS_URL ? test.serial : test.serial.skip
onRedis(
  'two processes on one Redis create one first key and close each other’s sockets',
  async (t) => {
    const logger = createLogger('silent')
    const url = new URL(REDIS_URL ?? '')
    const open = async () => {
      const prefix = `tw:test:${randomBytes(6).toString('hex')}:`
      const redis = await connectRedis(url, logger, { enableAutoPipelining: true })
      return { redis, prefix }
    }
    const { prefix } = await open().then(({ redis, prefix }) => {
      redis.disconnect()
      return { prefix }
    })
    const start = async () => {
      const { redis } = await open()
      const channel = await createRedisChannel(url, logger, { prefix })
      const { jwtKeys } = api.config
      const started = await startApi(store, {
        redis,
        channel,
        config: { jwtKeys, publicUrl: 'https://api.example' },
      })
      const close = async () => {
        await started.close()
        await channel.close()
        redis.disconnect()
      }
      return { ...started, close }
    }
    const [one, two] = [await start(), await start()]
    const wallet = newWallet()
    const token = await one.token(wallet.address)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => me(token, at % 2 === 0 ? one : two)),
    )
    const shown = answers.map(({ body }) => body.api_key).filter((key) => key !== null)
    t.is(shown.length, 1)
    const key = String(shown[0])
    await one.accounts.adjust(wallet.address, 100, 'test', 'one')
    // Each process has its own meter here: the second one learns of the credits when it loads the
    // account.
    const socket = await connect(`${one.url.replace('http', 'ws')}/ws`, key)
    t.is(await wallets(key, one), 200)
    t.is((await rotate(token, two)).status, 200)
    t.is(await socket.closed, 1008)
    t.deepEqual(socket.received.at(-1), { type: 'key_rotated' })
    t.deepEqual([await wallets(key, one), await wallets(key, two)], [401, 401])
    // A logout takes effect in the other process too.
    t.is((await ask(one, '/auth/logout', token, { method: 'POST' })).status, 204)
    t.is((await me(token, two)).status, 401)
    await one.close()
    await two.close()
  },
)

test.serial(
  'key uses are written every ten seconds, not during a request, and survive the process',
  async (t) => {
    // A store of its own: the API of the other tests writes its uses at any time.
    let writes = 0
    const own: Store = {
      ...store,
      async insert(table, ...rest) {
        if (table === 'key_uses') writes += 1
        await store.insert(table, ...rest)
      },
    }
    const used = await startApi(own, { now: () => clock.now })
    let open: TestApi | null = used
    t.teardown(() => open?.close()) // else a failure would hold up the end of the process
    const wallet = newWallet()
    const token = await used.token(wallet.address)
    const { api_key } = (await me(token, used)).body
    for (let call = 0; call < 50; call++) await wallets(api_key, used)
    t.is(writes, 0)
    await used.close()
    open = null
    t.is(writes, 1)
    clock.now += 5000
    const again = await startApi(store, { now: () => clock.now })
    const { last_used_at } = (await me(await again.token(wallet.address), again)).body
    t.is(last_used_at, (clock.now - 5000) / 1000)
    await again.close()
  },
)

test.serial(
  'usage comes from the ledger by hour or day, newest first, each entry once, without other accounts and top-ups',
  async (t) => {
    const now = Date.UTC(2026, 10, 21, 12, 30)
    const hour = 3600_000
    const used = await startApi(store, { now: () => now })
    const wallet = newWallet().address
    const token = await used.token(wallet)
    const usage = (query = '') => ask(used, `/me/usage${query}`, token)
    t.deepEqual((await usage()).body as object, { by: 'day', items: [] })
    t.true(await used.accounts.exists(wallet))

    const entry = (hoursAgo: number, credits: number, of: string = wallet, cause = 'usage') => ({
      wallet: of,
      idempotency_key: `${cause}:${hoursAgo}:${credits}`,
      credits,
      cause,
      reason: '',
      usage_ms: 0,
      usage_sequence: 0,
      deposit_amount: 0n,
      created_at: dateTime(now - hoursAgo * hour),
    })
    const rows = [
      ...[
        entry(0, -3),
        entry(0.25, -1),
        entry(1, -5),
        entry(1.25, 5),
        entry(2, -10),
        entry(2.25, 15),
      ],
      ...[entry(13, -100), entry(24 * 29, -7), entry(24 * 30, -1000)],
      ...[entry(0, -50, newWallet().address), entry(0, 9000, wallet, 'grant')],
    ]
    await store.insert('ledger_entries', rows)
    await store.insert('ledger_entries', rows.slice(0, 3)) // again, as after a crash
    const at = (hoursAgo: number) => Date.UTC(2026, 10, 21, 12 - hoursAgo) / 1000
    const midnight = Date.UTC(2026, 10, 21) / 1000
    const days = [
      { starts_at: midnight, credits: -1 },
      { starts_at: midnight - 86_400, credits: 100 },
      { starts_at: midnight - 29 * 86_400, credits: 7 },
    ]
    t.deepEqual((await usage()).body as object, { by: 'day', items: days })
    t.deepEqual((await usage('?limit=2')).body as object, { by: 'day', items: days.slice(0, 2) })
    t.deepEqual((await usage('?by=hour&limit=13')).body as object, {
      by: 'hour',
      items: [
        { starts_at: at(0), credits: 4 },
        { starts_at: at(2), credits: -5 },
      ],
    })
    const longer = (await usage('?by=hour&limit=14')).body.items
    t.deepEqual(longer.at(-1) as object, { starts_at: at(13), credits: 100 })
    for (const query of ['by=week', 'by=', 'by=day&by=day', 'limit=0', 'limit=101', 'limit=x'])
      t.is((await usage(`?${query}`)).body.code, 'invalid_parameter', query)
    await used.close()
  },
)

test.serial('while the store is down no key is created or shown', async (t) => {
  let isAway = false
  const away = await startApi({
    ...opened.store,
    async insert(table, ...rest) {
      if (isAway && ['accounts', 'api_keys'].includes(table))
        throw new ServiceError('unavailable', 'away', { retriable: true })
      await opened.store.insert(table, ...rest)
    },
  })
  const token = await away.token(newWallet().address)
  isAway = true
  t.deepEqual([(await me(token, away)).status, (await rotate(token, away)).status], [503, 503])
  isAway = false
  t.regex(String((await me(token, away)).body.api_key), RAW)
  await away.close()
})

test.serial('a key appears in one response and nowhere else', async (t) => {
  const token = await api.token(newWallet().address)
  const keys = [String((await me(token)).body.api_key), String((await rotate(token)).body.api_key)]
  for (const key of keys) {
    await wallets(key)
    await ask(api, `/wallets?api_key=${key}`)
    await ask(api, '/me/api', key)
  }
  const tables = ['accounts', 'api_keys', 'key_uses', 'ledger_entries']
  const rows = await Promise.all(
    tables.map((table) => opened.store.query(`SELECT * FROM ${table}`)),
  )
  const outside = [logged, await registry.metrics(), JSON.stringify(rows)]
  for (const secret of [...keys, ...keys.map((key) => key.slice(3, 20)), token])
    t.false(outside.some((text) => text.includes(secret)))
})

onRedis('a lock is held as long as its task, which may wait long for the store', async (t) => {
  const redis = await connectRedis(new URL(REDIS_URL ?? ''), createLogger('silent'))
  t.teardown(() => redis.disconnect())
  const heldMs = 400
  const [one, two] = [createAccountLocks(redis, heldMs), createAccountLocks(redis, heldMs)]
  const account = randomBytes(8).toString('hex')
  const ended: string[] = []
  let second = Promise.resolve()
  await one.withLock(account, async () => {
    second = two.withLock(account, async () => void ended.push('second'))
    // The time to live rises: when the lock is taken, then at each renewal.
    for (let rises = 0, before = 0; rises < 6; ) {
      const left = await redis.pttl(`tw:turn:${account}`)
      if (left < 0) {
        ended.push('lost')
        break
      }
      if (left > before) rises++
      before = left
    }
    ended.push('first')
  })
  await second
  t.deepEqual(ended, ['first', 'second'])
})

onRedis('a task that may have lost its lock writes nothing more', async (t) => {
  const way = await forwardTo(new URL(REDIS_URL ?? ''))
  const [mine, other] = await Promise.all(
    [way.url, new URL(REDIS_URL ?? '')].map((url) => connectRedis(url, createLogger('silent'))),
  )
  t.teardown(() => {
    mine!.disconnect()
    other!.disconnect()
    way.close()
  })
  const account = randomBytes(8).toString('hex')
  const key = `tw:turn:${account}`
  const isLost = (lock: HeldLock) => {
    try {
      lock.requireHeld()
      return false
    } catch (error) {
      t.like(error, { code: 'unavailable' })
      return true
    }
  }
  const lost = async (lock: HeldLock) => {
    while (!isLost(lock)) await new Promise((resolve) => setImmediate(resolve))
  }
  const locks = createAccountLocks(mine!, 400)
  await locks.withLock(account, async (lock) => {
    t.false(isLost(lock))
    // Another process has the lock.
    await other!.set(key, 'another')
    await lost(lock)
  })
  t.is(await other!.get(key), 'another')
  await other!.del(key)
  await locks.withLock(account, async (lock) => {
    t.false(isLost(lock))
    // The lock is free, as far as this process can know.
    way.open(false)
    await lost(lock)
  })
  way.open(true)
  await other!.del(key)
})
