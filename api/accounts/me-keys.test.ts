import { hash, randomUUID } from 'node:crypto'
import test from 'ava'
import { WebSocket } from 'ws'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createMemoryChannel } from '../channel/account-channel.ts'
import { createRedisChannel } from '../channel/redis.ts'
import { connectRedis } from '../redis-connection.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Named keys, sessions and session keys over HTTP and WebSocket (rules L15, L16).
 */

const T = Math.floor(Date.now() / 3600_000) * 3600
const clock = { now: T * 1000 }
const channel = createMemoryChannel()
let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  const config = { trustedProxies: 1, connectionsPerKey: 1 }
  api = await startApi(opened.store, { now: () => clock.now, channel, config })
  await api.writer.moveTo(1)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const send = (method: string, path: string, bearer: string, body?: object) =>
  ask(api, path, bearer, {
    method,
    headers: { 'x-forwarded-for': '192.0.2.17', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
const create = (token: string, terms: object = {}) =>
  send('POST', '/me/keys', token, { name: 'a program', scopes: ['read', 'feed'], ...terms })
const from = (address: string, path: string, bearer: string) =>
  ask(api, path, bearer, { headers: { 'x-forwarded-for': address } })
const outcome = async (asked: ReturnType<typeof ask>) => {
  const { status, body } = await asked
  return status < 300 ? status : `${status} ${body.code}`
}

/** Opens the feed; resolves with the status of a refusal, or the socket and its messages. */
async function follow(bearer: string, server = api) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${bearer}` },
  })
  const messages: unknown[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  const refused = await new Promise<number | null>((resolve) => {
    socket.on('open', () => resolve(null))
    socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
    socket.on('error', () => {})
  })
  return { refused, socket, messages, closed }
}

test.serial('a named key is shown once, and stored as a hash and four characters', async (t) => {
  const { wallet } = await api.customer(100)
  const token = await api.token(wallet)
  t.deepEqual((await ask(api, '/me/keys', token)).body as object, { items: [] })
  const terms = {
    name: 'server 2',
    scopes: ['read'],
    expires_at: T + 3600,
    allowed_addresses: ['192.0.2.17', '2001:DB8::/32'],
  }
  const { status, headers, body } = await create(token, terms)
  t.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
  const { api_key, ...item } = body as Record<string, unknown>
  const key = String(api_key)
  t.deepEqual(item, {
    id: item.id,
    name: 'server 2',
    last4: key.slice(-4),
    scopes: ['read'],
    allowed_addresses: ['192.0.2.17/32', '2001:db8::/32'],
    created_at: T,
    expires_at: T + 3600,
    last_used_at: null,
  })
  const listed = async () => (await ask(api, '/me/keys', token)).body.items
  t.deepEqual(await listed(), [item])
  t.is(await outcome(send('GET', '/wallets', key)), 200)
  t.deepEqual(await listed(), [{ ...item, last_used_at: T }])
  const rows = JSON.stringify(await opened.store.query('SELECT * FROM named_keys'))
  t.false(rows.includes(key))
  t.true(rows.includes(hash('sha256', key, 'hex')))
  const { items } = (await ask(api, '/me/events', token)).body
  t.deepEqual(items, [{ kind: 'key_created', at: T, network: '192.0.2.0/24', count: 1 }])
})

test.serial(
  'a key is refused outside its scopes and addresses with 403, and expired or deleted with 401',
  async (t) => {
    const { wallet, key: own } = await api.customer(1000)
    const token = await api.token(wallet)
    const made = async (terms: object) => {
      const { id, api_key } = (await create(token, terms)).body
      return { id: String(id), key: String(api_key) }
    }
    const reader = await made({ scopes: ['read'], allowed_addresses: ['192.0.2.0/28'] })
    const feeder = await made({ scopes: ['feed'], allowed_addresses: ['2001:db8:1::/48'] })
    const brief = await made({ expires_at: T + 60 })

    t.is(await outcome(from('192.0.2.15', '/wallets', reader.key)), 200)
    t.is(await outcome(from('::ffff:192.0.2.1', '/wallets', reader.key)), 200)
    t.is(await outcome(from('192.0.2.16', '/wallets', reader.key)), '403 address_not_allowed')
    t.is(await outcome(from('2001:db8:1::1', '/wallets', reader.key)), '403 address_not_allowed')
    t.is(await outcome(from('192.0.2.1', '/ws', reader.key)), '403 scope_missing')
    t.is(await outcome(from('2001:db8:1::7', '/wallets', feeder.key)), '403 scope_missing')
    t.is(await outcome(from('2001:db8:1::7', '/ws', feeder.key)), '426 upgrade_required')
    t.is(await outcome(from('2001:db8:2::7', '/ws', feeder.key)), '403 address_not_allowed')
    // Its account, any key may read.
    t.is(await outcome(from('2001:db8:1::7', '/account', feeder.key)), 200)
    // A refusal costs nothing.
    t.deepEqual(creditsOf(await from('192.0.2.16', '/wallets', reader.key)), ['0', null])
    t.is((await send('GET', '/account', own)).body.balance_credits, 998)

    t.is(await outcome(send('GET', '/wallets', brief.key)), 200)
    clock.now = (T + 60) * 1000
    t.is(await outcome(send('GET', '/wallets', brief.key)), '401 unauthorized')
    // The rotation of the own key leaves named keys as they are.
    const rotated = (await send('POST', '/me/api/rotate', token)).body.api_key
    t.is(await outcome(send('GET', '/wallets', own)), '401 unauthorized')
    t.is(await outcome(from('192.0.2.1', '/wallets', reader.key)), 200)

    // Nobody else can delete it, or see it.
    const other = await api.token((await api.customer(0)).wallet)
    t.is(await outcome(send('DELETE', `/me/keys/${reader.id}`, other)), '404 key_not_found')
    t.deepEqual((await ask(api, '/me/keys', other)).body.items, [])
    for (let time = 0; time < 2; time++)
      t.is(await outcome(send('DELETE', `/me/keys/${reader.id}`, token)), 204)
    t.is(await outcome(from('192.0.2.1', '/wallets', reader.key)), '401 unauthorized')
    t.is(await outcome(send('DELETE', '/me/keys/x', token)), '404 key_not_found')
    t.is(await outcome(send('GET', '/wallets', String(rotated))), 200)
    const { items } = (await ask(api, '/me/events', token)).body
    t.deepEqual(
      items.map(({ kind, count }) => `${kind} ${count}`).sort(),
      [
        ...['key_created 1', 'key_created 1', 'key_created 1', 'key_deleted 1'],
        // All three refusals came from one network within an hour.
        ...['key_refused 3', 'key_rotated 1'],
      ].sort(),
    )
    // Disabled, its keys are refused like its own.
    await api.accounts.setDisabled(wallet, true)
    await channel.accessChanged(wallet, true)
    t.is(await outcome(from('2001:db8:1::7', '/account', feeder.key)), '403 account_disabled')
  },
)

test.serial('the terms of a key are checked, and an account has at most 20', async (t) => {
  const { wallet } = await api.customer(0)
  const token = await api.token(wallet)
  const bad: readonly (readonly [object, string])[] = [
    [{ name: '' }, 'name'],
    [{ name: ' a' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'x'.repeat(41) }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['read', 'read'] }, 'scopes'],
    [{ scopes: ['write'] }, 'scopes'],
    [{ scopes: undefined }, 'scopes'],
    [{ expires_at: Math.floor(clock.now / 1000) }, 'expires_at'],
    [{ expires_at: '1' }, 'expires_at'],
    [{ allowed_addresses: [] }, 'allowed_addresses'],
    [{ allowed_addresses: Array(21).fill('192.0.2.1') }, 'allowed_addresses'],
    ...['192.0.2', '192.0.2.0/33', '2001:db8::/129', 'example.com', '1', '192.0.2.1/x', ''].map(
      (address) => [{ allowed_addresses: [address] }, 'allowed_addresses'] as const,
    ),
  ]
  for (const [terms, name] of bad) {
    const { status, body } = await create(token, terms)
    const errors = body.errors as { in: string; name: string }[]
    t.deepEqual(
      [status, body.code, errors?.map((one) => `${one.in} ${one.name}`)],
      [400, 'invalid_parameter', [`body ${name}`]],
      JSON.stringify(terms),
    )
  }
  const statuses = await Promise.all(Array.from({ length: 23 }, () => create(token)))
  t.deepEqual(statuses.map(({ status }) => status).sort(), [
    ...Array(20).fill(201),
    ...Array(3).fill(409),
  ])
  const { items } = (await ask(api, '/me/keys', token)).body
  t.is(new Set(items.map(({ id }) => id)).size, 20)
  // A deleted key makes room, and its place keeps no trace of it.
  t.is(await outcome(send('DELETE', `/me/keys/${items[3]?.id}`, token)), 204)
  const { status, body } = await create(token, { name: 'the 21st' })
  t.is(status, 201)
  t.is(await outcome(send('DELETE', `/me/keys/${items[3]?.id}`, token)), '404 key_not_found')
  t.is(await outcome(send('GET', '/account', String(body.api_key))), 200)
})

test.serial(
  'the feed ends with a deleted key; named keys share the connections of the account',
  async (t) => {
    const { wallet, key: own } = await api.customer(100)
    const token = await api.token(wallet)
    const { id, api_key } = (await create(token)).body
    const first = await follow(own)
    const second = await follow(String(api_key))
    t.is(await first.closed, 1008)
    t.deepEqual(first.messages, [{ type: 'superseded' }])
    await send('POST', '/me/api/rotate', token)
    t.is(await outcome(send('DELETE', `/me/keys/${id}`, token)), 204)
    t.is(await second.closed, 1008)
    t.deepEqual(second.messages, [{ type: 'key_deleted' }])
    t.is((await follow(String(api_key))).refused, 401)
  },
)

test.serial(
  'a session key reads at the prices of an API key and ends with its session; its feed is beside that of the API key',
  async (t) => {
    const { wallet, key } = await api.customer(100)
    const [token, another] = [await api.token(wallet), await api.token(wallet)]
    const { status, body } = await send('POST', '/me/session-key', token)
    t.is(status, 200)
    const mine = String(body.session_key)
    t.is(body.expires_at, Math.floor(clock.now / 1000) + 12 * 3600)
    t.deepEqual(creditsOf(await send('GET', '/trades', mine)), ['3', '97'])
    // It is no dashboard token, and the token is no key.
    t.is(await outcome(send('GET', '/me/api', mine)), '401 unauthorized')
    t.is(await outcome(send('GET', '/trades', token)), '401 unauthorized')
    const bot = await follow(key)
    const seat = await follow(mine)
    const newer = await follow(mine)
    t.is(await seat.closed, 1008)
    t.deepEqual(seat.messages, [{ type: 'superseded' }])
    t.is(bot.socket.readyState, WebSocket.OPEN)
    await send('POST', '/me/api/rotate', token)
    t.is(await bot.closed, 1008)
    t.deepEqual(bot.messages, [{ type: 'key_rotated' }])
    t.is(newer.socket.readyState, WebSocket.OPEN)

    // Another session revokes this one.
    const { items } = (await ask(api, '/me/sessions', another)).body
    const other = items.find(({ is_current }) => !is_current)
    t.is(items.length, 2)
    t.is(await outcome(send('DELETE', `/me/sessions/${other?.id}`, another)), 204)
    t.is(await newer.closed, 1008)
    t.deepEqual(newer.messages, [{ type: 'token_revoked' }])
    for (const path of ['/trades', '/account', '/ws'])
      t.is(await outcome(send('GET', path, mine)), '401 unauthorized')
    t.is(await outcome(send('GET', '/me/api', token)), '401 unauthorized')
    t.is(await outcome(send('GET', '/me/api', another)), 200)
    const { body: left } = await ask(api, '/me/sessions', another)
    const seconds = Math.floor(clock.now / 1000)
    t.deepEqual(left.items, [
      {
        id: left.items[0]?.id,
        created_at: seconds,
        expires_at: seconds + 12 * 3600,
        last_used_at: seconds,
        network: '127.0.0.0/24',
        is_current: true,
      },
    ])
    // Sessions of another wallet are not there.
    const stranger = await api.token((await api.customer(0)).wallet)
    const path = `/me/sessions/${left.items[0]?.id}`
    t.is(await outcome(send('DELETE', path, stranger)), '404 session_not_found')
    t.is(await outcome(send('GET', '/me/api', another)), 200)
  },
)

test.serial(
  'a session key expires with its session, and is refused when the account is disabled',
  async (t) => {
    const { wallet } = await api.customer(100)
    const token = await api.token(wallet)
    const key = String((await send('POST', '/me/session-key', token)).body.session_key)
    t.is(await outcome(send('GET', '/account', key)), 200)
    await api.accounts.setDisabled(wallet, true)
    await channel.accessChanged(wallet, true)
    t.is(await outcome(send('GET', '/account', key)), '403 account_disabled')
    await api.accounts.setDisabled(wallet, false)
    await channel.accessChanged(wallet, false)
    t.is(await outcome(send('GET', '/account', key)), 200)
    clock.now += 12 * 3600 * 1000
    t.is(await outcome(send('GET', '/account', key)), '401 unauthorized')
  },
)

const { REDIS_URL } = process.env
const onRedis = REDIS_URL ? test.serial : test.serial.skip
onRedis(
  'two processes on one Redis create at most 20 keys, and both learn of a deleted key and a revoked session',
  async (t) => {
    const url = new URL(REDIS_URL ?? '')
    const logger = createLogger('silent')
    const prefix = `tw:test:${randomUUID()}:`
    const { jwtKeys } = api.config
    const start = async () => {
      const redis = await connectRedis(url, logger)
      const own = await createRedisChannel(url, logger, { prefix })
      const config = { jwtKeys, publicUrl: 'https://api.example' }
      const started = await startApi(opened.store, { redis, channel: own, config })
      t.teardown(async () => {
        await started.close()
        await own.close()
        redis.disconnect()
      })
      await started.writer.moveTo(2)
      return started
    }
    const [one, two] = [await start(), await start()]
    const call = (server: TestApi, method: string, path: string, bearer: string, body?: object) =>
      ask(server, path, bearer, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const { wallet } = await two.customer(100) // each process has its own meter here
    const token = await one.token(wallet)
    const terms = { name: 'a program', scopes: ['read', 'feed'] }
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        call(at % 2 === 0 ? one : two, 'POST', '/me/keys', token, terms),
      ),
    )
    t.is(made.filter(({ status }) => status === 201).length, 20)
    t.is((await call(two, 'GET', '/me/keys', token)).body.items.length, 20)

    const created = made.find(({ status }) => status === 201)?.body
    const key = String(created?.api_key)
    const bot = await follow(key, two)
    t.is(await outcome(call(two, 'GET', '/account', key)), 200)
    t.is(await outcome(call(one, 'DELETE', `/me/keys/${created?.id}`, token)), 204)
    t.is(await bot.closed, 1008)
    t.deepEqual(bot.messages, [{ type: 'key_deleted' }])
    for (const server of [one, two])
      t.is(await outcome(call(server, 'GET', '/account', key)), '401 unauthorized')

    const session = String((await call(one, 'POST', '/me/session-key', token)).body.session_key)
    const seat = await follow(session, two)
    t.is(await outcome(call(one, 'POST', '/auth/logout', token)), 204)
    t.is(await seat.closed, 1008)
    t.deepEqual(seat.messages, [{ type: 'token_revoked' }])
    for (const server of [one, two])
      t.is(await outcome(call(server, 'GET', '/account', session)), '401 unauthorized')
  },
)
