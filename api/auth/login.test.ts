import { once } from 'node:events'
import { Writable } from 'node:stream'
import { parseSignInMessageText } from '@solana/wallet-standard-util'
import test from 'ava'
import bs58 from 'bs58'
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import { pino } from 'pino'
import type { Address } from '../../pipeline/domain/address.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Billing } from '../billing/billing.ts'
import { createMemoryChannel } from '../channel/account-channel.ts'
import { connectRedis } from '../redis-connection.ts'
import type { SecretKeys } from '../secret-key.ts'
import { newWallet, post, type TestWallet, tokenOf } from '../testing/a-wallet.ts'
import { withSwitch } from '../testing/absent-table.ts'
import { ask } from '../testing/ask.ts'
import { connectLossyRedis, REVOCATIONS } from '../testing/lossy-redis.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { connect } from '../testing/start-feed.ts'
import { newJwtKeys, readJwtKeys } from './jwt-keys.ts'
import { createLogin } from './login.ts'
import { createNonces } from './nonces.ts'
import { createMemoryUsedNonces } from './used-nonces.ts'

/*
 * Logging in over HTTP, with real key pairs (rules E1, E2, D6).
 */

const { REDIS_URL } = process.env
if (!REDIS_URL) test.skip('logouts that Redis loses: REDIS_URL is not set', () => {})

/** A whole second of the current time, because the store deletes expired rows by its own clock. */
const clock = { now: Math.floor(Date.now() / 1000) * 1000 }
const registry = createRegistry()
const stranger = newWallet()
let opened: TestStore
let api: TestApi
let logged = ''

test.before(async () => {
  opened = await openEmbeddedStore()
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  api = await startApi(opened.store, {
    registry,
    now: () => clock.now,
    logger: pino({ level: 'debug' }, sink),
    config: { corsOrigins: ['https://app.example'] },
  })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

interface Challenge {
  readonly nonce: string
  readonly message: string
  readonly expires_at: number
}
const challenge = async (wallet: Address) =>
  (await post(api, '/auth/nonce', { wallet })).body as unknown as Challenge
const attempt = (wallet: Address, message: string, signature: string) =>
  post(api, '/auth/login', { wallet, message, signature })
const PROTECTED = ['POST /auth/logout', 'GET /me/api', 'POST /me/api/rotate'] as const
const out = (of: TestApi, bearer: string) => ask(of, '/auth/logout', bearer, { method: 'POST' })
const call = (line: (typeof PROTECTED)[number], bearer?: string) => {
  const [method = '', path = ''] = line.split(' ')
  return ask(api, path, bearer, { method })
}

test.serial('a wallet that signs the message is logged in until it logs out', async (t) => {
  const wallet = newWallet()
  const { nonce, message, expires_at } = await challenge(wallet.address)
  t.is(expires_at, clock.now / 1000 + 300)
  const fields = parseSignInMessageText(message)
  t.is(fields?.nonce, nonce)
  t.is(`http://${fields?.domain}`, api.url)
  t.is(fields?.address, wallet.address)
  const { status, headers, body } = await attempt(wallet.address, message, wallet.signText(message))
  t.is(status, 200)
  t.is(headers.get('cache-control'), 'no-store')
  const { token, ...rest } = body
  t.deepEqual(rest as object, {
    token_type: 'Bearer',
    expires_at: clock.now / 1000 + 12 * 3600,
    wallet: wallet.address,
  })
  // The published keys verify the token.
  const { body: keys, headers: keyHeaders } = await ask(api, '/.well-known/jwks.json')
  t.is(keyHeaders.get('cache-control'), 'public, max-age=300')
  const { payload } = await jwtVerify(
    String(token),
    createLocalJWKSet(keys as unknown as JSONWebKeySet),
    { issuer: api.url, audience: 'dashboard', currentDate: new Date(clock.now) },
  )
  t.is(payload.sub, wallet.address)
  const out = await call('POST /auth/logout', String(token))
  t.is(out.status, 204)
  t.is(out.headers.get('cache-control'), 'no-store')
  t.is((await call('POST /auth/logout', String(token))).status, 401)
})

test.serial(
  'a login also accepts the output of a wallet’s `signIn`, and a signature in base64',
  async (t) => {
    const wallet = newWallet()
    const { message } = await challenge(wallet.address)
    const { address: _own, ...input } = parseSignInMessageText(message) ?? {}
    const { signedMessage, signature } = wallet.signIn({
      ...input,
      requestId: 'added-by-the-wallet',
    })
    const text = new TextDecoder().decode(signedMessage)
    t.not(text, message)
    const base64 = Buffer.from(signature).toString('base64')
    t.is((await attempt(wallet.address, text, base64)).status, 200)
    const again = await challenge(wallet.address)
    t.is((await attempt(wallet.address, again.message, wallet.signText(again.message))).status, 200)
  },
)

test.serial('every faulty attempt is invalid_signature, without the reason', async (t) => {
  const wallet = newWallet()
  const change = async (
    edit: (message: string) => string,
    sign: (text: string) => string = wallet.signText,
    as: TestWallet = wallet,
  ) => {
    const { message } = await challenge(wallet.address)
    const text = edit(message)
    return attempt(as.address, text, sign(text))
  }
  const same = (text: string) => text
  const other = await challenge(stranger.address)
  const bad = [
    await change(same, stranger.signText),
    await change(same, () => ''),
    await change(same, () => 'x'.repeat(88)),
    await change(same, () => bs58.encode(new Uint8Array(64))),
    await change(same, (text) => wallet.signText(`${text} `)),
    await change((text) => text.replace(/(Nonce: ).*/, '$1AAAAAAAAAAAAAAAAAAAAAA')),
    await change((text) => text.replace(/Nonce: .*/, `Nonce: ${other.nonce}`)),
    await change((text) => text.replace(/^\S+/, 'evil.example')),
    await change((text) => text.replace(/Chain ID: .*/, 'Chain ID: devnet')),
    await change((text) => text.replace(/\nExpiration Time: .*/, '')),
    await change((text) => text.replace(wallet.address, stranger.address)),
    await change(same, stranger.signText, stranger),
    await change(() => ''),
    await change(() => 'x'.repeat(5000)),
  ]
  const [{ body } = { body: null }] = bad
  for (const answer of bad) {
    t.is(answer.status, 401)
    t.is(answer.headers.get('www-authenticate'), 'Bearer')
    t.deepEqual({ ...answer.body, request_id: '' }, { ...body, request_id: '' } as never)
  }
  t.is(body?.code, 'invalid_signature')
  const counted = await registry.metrics()
  for (const outcome of ['bad_signature', 'unknown_nonce', 'domain', 'chain', 'no_message'])
    t.regex(counted, new RegExp(`api_logins_total\\{outcome="${outcome}"\\} [1-9]`))
})

test.serial(
  'a nonce is valid for one login; only a valid signature uses it up; of thirty concurrent logins one succeeds',
  async (t) => {
    const wallet = newWallet()
    const one = await challenge(wallet.address)
    // Only a signature of the wallet can use up the nonce.
    t.is((await attempt(wallet.address, one.message, stranger.signText(one.message))).status, 401)
    t.is((await attempt(wallet.address, one.message, wallet.signText(one.message))).status, 200)
    t.is((await attempt(wallet.address, one.message, wallet.signText(one.message))).status, 401)
    const { message } = await challenge(wallet.address)
    const signature = wallet.signText(message)
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => attempt(wallet.address, message, signature)),
    )
    t.is(answers.filter(({ status }) => status === 200).length, 1)
    t.is(answers.filter(({ status }) => status === 401).length, 29)
  },
)

test.serial('a nonce is bound to its wallet and to the times of its message', async (t) => {
  const wallet = newWallet()
  const { message, nonce } = await challenge(wallet.address)
  t.regex(nonce, /^[A-Za-z0-9]{8,64}$/)
  const sooner = (field: string) =>
    message.replace(new RegExp(`(?<=${field}: ).*`), (time) =>
      new Date(Date.parse(time) - 1000).toISOString(),
    )
  for (const text of [sooner('Issued At'), sooner('Expiration Time')])
    t.is((await attempt(wallet.address, text, wallet.signText(text))).status, 401)
  // The same times in another format are equal.
  const other = message.replace(/(?<=At: |Time: )(.*)Z$/gm, '$1+00:00')
  t.not(other, message)
  t.is((await attempt(wallet.address, other, wallet.signText(other))).status, 200)
})

const A_SESSION = {
  wallet: newWallet().address,
  tokenId: 'an id',
  verifiedBy: 'a key',
  expiresAt: 1,
  generation: 0,
}

test.serial('a nonce stays valid, however many are issued to others', async (t) => {
  const wallet = newWallet()
  const login = createLogin({
    url: () => 'https://api.example',
    nonces: createNonces([Buffer.alloc(32, 1)]),
    used: createMemoryUsedNonces({ limit: 1 }),
    tokens: { issue: async () => ({ token: 'a token', session: A_SESSION }) },
    onOutcome: () => {},
    onSession: () => {},
    now: Date.now,
  })
  const sign = ({ message }: { message: string }) =>
    login.login({
      wallet: wallet.address,
      message,
      signature: wallet.signText(message),
      network: '192.0.2.0/24',
    })
  const [one, two] = [await login.nonce(wallet.address), await login.nonce(wallet.address)]
  for (let other = 0; other <= 100_000; other++) await login.nonce(stranger.address)
  t.is((await sign(one)).token, 'a token')
  // The set is full: the next login is refused, because no nonce is evicted.
  await t.throwsAsync(sign(two), { code: 'unavailable' })
  await t.throwsAsync(sign(one), { code: 'invalid_signature' })
})

test.serial('a nonce of any secret key is accepted; the first key makes it (rule J14)', (t) => {
  const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const wallet = newWallet()
  const subject = { wallet: wallet.address, issuedAt: 1, expiresAt: 2 }
  const nonce = createNonces([current, old]).make(subject)
  const accepts = (keys: SecretKeys) => createNonces(keys).isOurs(nonce, subject)
  t.deepEqual(
    [accepts([current]), accepts([old, current]), accepts([current, old]), accepts([old])],
    [true, true, true, false],
  )
})

test.serial('a nonce from before a restart is refused', async (t) => {
  const config = { publicUrl: 'https://api.example' }
  const wallet = newWallet()
  const one = await startApi(opened.store, { config })
  const given = (await post(one, '/auth/nonce', { wallet: wallet.address })).body
  const { message } = given as unknown as Challenge
  const body = { wallet: wallet.address, message, signature: wallet.signText(message) }
  t.is((await post(one, '/auth/login', body)).status, 200)
  await one.close()
  const two = await startApi(opened.store, { config })
  t.is((await post(two, '/auth/login', body)).status, 401)
  await two.close()
})

test.serial('a nonce expires after five minutes, a token after twelve hours', async (t) => {
  const wallet = newWallet()
  const { message } = await challenge(wallet.address)
  const started = clock.now
  clock.now += 300_000
  t.is((await attempt(wallet.address, message, wallet.signText(message))).status, 401)
  const token = await tokenOf(api, wallet)
  const from = clock.now
  clock.now = from + 12 * 3600_000
  t.is((await call('POST /auth/logout', token)).status, 401)
  clock.now = from + 12 * 3600_000 - 1000
  t.is((await call('POST /auth/logout', token)).status, 204)
  clock.now = started
})

test.serial(
  'new keys take effect at once: they are published and sign, and tokens and sockets of a removed key end',
  async (t) => {
    const proUntil = Math.floor(Date.now() / 1000) + 3600
    const billing = {
      pro: async () => ({ active: true, expiresAt: proUntil }),
    } as unknown as Billing // the feed uses nothing else
    const [old, next] = [await newJwtKeys(), await newJwtKeys()]
    const [{ keys: older }, { keys: newer }] = [old, next].map(
      (text) => JSON.parse(text) as { keys: object[] },
    ) as [{ keys: object[] }, { keys: object[] }]
    const read = (keys: object[]) => readJwtKeys(JSON.stringify({ keys }), 'test')
    const own = await startApi(opened.store, {
      billing: () => billing,
      config: { jwtKeys: await read(older) },
    })
    t.teardown(() => own.close())
    const published = async () =>
      ((await ask(own, '/.well-known/jwks.json')).body.keys as { x: string }[]).map(({ x }) => x)
    const [x1, x2] = [older, newer].map(([key]) => (key as { x: string }).x) as [string, string]
    const before = await tokenOf(own, newWallet())
    const statusOf = async (token: string) => (await ask(own, '/me/api', token)).status
    const socket = await connect(`${own.url.replace('http', 'ws')}/ws`, before)

    own.replaceJwtKeys(await read([...newer, ...older]))
    t.deepEqual(await published(), [x2, x1])
    const after = await tokenOf(own, newWallet())
    t.deepEqual([await statusOf(before), await statusOf(after)], [200, 200])
    const kept = await connect(`${own.url.replace('http', 'ws')}/ws`, after)

    own.replaceJwtKeys(await read(newer))
    t.deepEqual(await published(), [x2])
    t.deepEqual([await statusOf(before), await statusOf(after)], [401, 200])
    t.is(await socket.closed, 1008)
    t.deepEqual(socket.received, [{ type: 'token_revoked' }])
    kept.send({ action: 'ping' })
    t.deepEqual(await kept.take(1), [{ type: 'pong' }])
    await kept.close()
  },
)

test.serial('a logout survives a restart', async (t) => {
  const wallet = newWallet()
  const token = await tokenOf(api, wallet)
  const kept = await tokenOf(api, wallet)
  t.is((await call('POST /auth/logout', token)).status, 204)
  const revoked = await opened.store.query('SELECT token_id FROM revoked_tokens')
  t.true(revoked.length > 0)
  const again = await startApi(opened.store, {
    now: () => clock.now,
    config: { jwtKeys: api.config.jwtKeys, publicUrl: api.url },
  })
  t.deepEqual([(await out(again, token)).status, (await out(again, kept)).status], [401, 204])
  await again.close()
})

test.serial(
  'a key does not pass as a token, nor a token as a key; neither, or one in the URL, is 401',
  async (t) => {
    const { key } = await api.customer(100)
    const token = await tokenOf(api, newWallet())
    for (const line of PROTECTED) {
      const [, path = ''] = line.split(' ')
      for (const bearer of [undefined, key, 'x', `${token}x`, token.slice(0, -4), ''])
        t.is((await call(line, bearer)).status, 401, `${line} ${bearer?.slice(0, 5)}`)
      const method = line.startsWith('POST') ? 'POST' : 'GET'
      t.is((await ask(api, `${path}?token=${token}`, undefined, { method })).status, 401)
      const cookie = { headers: { cookie: `token=${token}` }, method }
      t.is((await ask(api, path, undefined, cookie)).status, 401)
      const basic = Buffer.from(`x:${token}`).toString('base64')
      const fields = { headers: { authorization: `Basic ${basic}` }, method }
      t.is((await ask(api, path, undefined, fields)).status, 401)
    }
    // The WebSocket accepts API keys and dashboard tokens, each for other channels
    // (api/stream/view-feed.test.ts).
    for (const path of ['/wallets', '/trades']) t.is((await ask(api, path, token)).status, 401)
  },
)

test.serial('malformed requests are refused in the order of rule D2', async (t) => {
  const send = (path: string, body: string | Uint8Array, type = 'application/json', more = {}) =>
    ask(api, path, undefined, { method: 'POST', body, headers: { 'content-type': type, ...more } })
  const wallet = stranger.address
  const good = JSON.stringify({ wallet })
  const cases: readonly (readonly [Promise<{ status: number; body: object }>, number, string])[] = [
    [ask(api, '/auth/nonce'), 405, 'method_not_allowed'],
    [ask(api, '/auth/nonce/', undefined, { method: 'POST' }), 404, 'not_found'],
    [send('/auth/nonce', good, 'text/plain'), 415, 'unsupported_media_type'],
    [send('/auth/nonce', good, 'application/x-www-form-urlencoded'), 415, 'unsupported_media_type'],
    [
      send('/auth/nonce', good, 'application/json', { 'content-encoding': 'gzip' }),
      415,
      'unsupported_media_type',
    ],
    [ask(api, '/auth/nonce', undefined, { method: 'POST' }), 415, 'unsupported_media_type'],
    [send('/auth/nonce', 'x'.repeat(16_385), 'text/plain'), 413, 'payload_too_large'],
    [
      send('/auth/nonce', JSON.stringify({ wallet, x: 'x'.repeat(16_384) })),
      413,
      'payload_too_large',
    ],
    ...[
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '1',
      '{}',
      '{"wallet":1}',
      '{"wallet":null}',
      '{"wallet":""}',
    ].map((body) => [send('/auth/nonce', body), 400, 'invalid_parameter'] as const),
    ...[
      'W1',
      wallet.slice(9),
      `${wallet}${'1'.repeat(9)}`,
      `${wallet} `,
      '0'.repeat(44),
      '__proto__',
    ].map(
      (bad) =>
        [send('/auth/nonce', JSON.stringify({ wallet: bad })), 400, 'invalid_parameter'] as const,
    ),
    [send('/auth/nonce', Buffer.from([0x7b, 0xff, 0x7d])), 400, 'invalid_parameter'],
    [send('/auth/login', good), 400, 'invalid_parameter'],
    [
      send('/auth/login', JSON.stringify({ wallet, message: 1, signature: {} })),
      400,
      'invalid_parameter',
    ],
  ]
  for (const [request, status, code] of cases) {
    const answer = await request
    t.is(answer.status, status, code)
    t.is((answer.body as { code?: string }).code, code)
  }
  const { body } = await send('/auth/login', JSON.stringify({ wallet: 'W1', message: 'x' }))
  t.deepEqual(body.errors, [
    { in: 'body', name: 'wallet', message: 'expected a wallet address, base58 of 32 bytes' },
    {
      in: 'body',
      name: 'signature',
      message: 'Invalid input: expected string, received undefined',
    },
  ])
  t.deepEqual((await send('/auth/nonce', '{')).body.errors, [
    { in: 'body', name: '', message: 'expected a JSON object' },
  ])
  // A body with an unknown field, and a chunked one without a length, are read.
  t.is(
    (
      await send(
        '/auth/nonce',
        JSON.stringify({ wallet, more: 1 }),
        'application/json; charset=utf-8',
      )
    ).status,
    200,
  )
  const stream = new ReadableStream({
    start(controller) {
      for (const part of good) controller.enqueue(Buffer.from(part))
      controller.close()
    },
  })
  const pieces = {
    method: 'POST',
    body: stream,
    duplex: 'half',
    headers: { 'content-type': 'application/json' },
  }
  t.is((await ask(api, '/auth/nonce', undefined, pieces as RequestInit)).status, 200)
  const endless = {
    ...pieces,
    body: new ReadableStream({ pull: (one) => one.enqueue(Buffer.alloc(4096, 32)) }),
  }
  t.is(
    (await fetch(`${api.url}/auth/nonce`, endless as RequestInit).catch(() => ({ status: 413 })))
      .status,
    413,
  )
})

test.serial(
  'a page of an allowed origin may log in, a page of another origin may not',
  async (t) => {
    const preflight = (origin: string) =>
      fetch(`${api.url}/auth/login`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      })
    const allowed = await preflight('https://app.example')
    t.is(allowed.status, 204)
    t.is(allowed.headers.get('access-control-allow-origin'), 'https://app.example')
    t.regex(allowed.headers.get('access-control-allow-methods') ?? '', /POST/)
    t.regex(
      allowed.headers.get('access-control-allow-headers') ?? '',
      /authorization.*content-type/i,
    )
    t.is(allowed.headers.get('access-control-allow-credentials'), null)
    const refused = await preflight('https://evil.example')
    t.is(refused.headers.get('access-control-allow-origin'), null)
  },
)

test.serial('each client and each wallet has one budget of logins (rule D6)', async (t) => {
  const limited = await startApi(opened.store, {
    config: { loginRateLimitPerMinute: 3, rateLimitPerMinute: 100, trustedProxies: 1 },
  })
  const nonce = (wallet: Address, from: string, path = '/auth/nonce') =>
    ask(limited, path, undefined, {
      method: 'POST',
      body: JSON.stringify({ wallet, message: 'x', signature: 'x' }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    })
  const wallets = Array.from({ length: 6 }, () => newWallet().address)
  const [a, b, c, d] = wallets as [Address, Address, Address, Address]
  const first = await nonce(a, '192.0.2.1')
  t.is(first.status, 200)
  t.is(first.headers.get('ratelimit-policy'), '"login";q=3;w=60')
  t.regex(first.headers.get('ratelimit') ?? '', /^"login";r=2;t=\d+$/)
  t.is((await nonce(b, '192.0.2.1', '/auth/login')).status, 401)
  t.is((await nonce(c, '192.0.2.1')).status, 200)
  const over = await nonce(d, '192.0.2.1', '/auth/login')
  t.is(over.status, 429)
  t.is(over.body.code, 'rate_limited')
  t.regex(over.headers.get('ratelimit') ?? '', /^"login";r=0;t=\d+$/)
  t.regex(over.headers.get('retry-after') ?? '', /^\d+$/)
  // The limit comes before the body is read, and does not count for other endpoints.
  const unread = { method: 'POST', headers: { 'x-forwarded-for': '192.0.2.1' } }
  t.is((await ask(limited, '/auth/nonce', undefined, unread)).status, 429)
  const keys = await ask(
    limited,
    '/.well-known/jwks.json',
    undefined,
    unread && { headers: unread.headers },
  )
  t.is(keys.status, 200)
  t.regex(keys.headers.get('ratelimit') ?? '', /^"default";r=99;/)
  // The budget of a wallet counts requests from every address: `a` has two left.
  t.is((await nonce(a, '192.0.2.2')).status, 200)
  t.is((await nonce(a, '192.0.2.3', '/auth/login')).status, 401)
  const everywhere = await nonce(a, '192.0.2.4')
  t.is(everywhere.status, 429)
  t.regex(everywhere.headers.get('ratelimit') ?? '', /^"login";r=0;t=\d+$/)
  t.regex(everywhere.headers.get('retry-after') ?? '', /^\d+$/)
  t.is((await nonce(d, '192.0.2.4')).status, 200)
  await limited.close()
})

test.serial(
  'all networks of an IPv6 /48 together have ten times the budget of a client (rule D6)',
  async (t) => {
    const limited = await startApi(opened.store, {
      config: { loginRateLimitPerMinute: 2, trustedProxies: 1 },
    })
    t.teardown(() => limited.close())
    const nonce = (from: string) =>
      ask(limited, '/auth/nonce', undefined, {
        method: 'POST',
        body: JSON.stringify({ wallet: newWallet().address }),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      })
    const statuses: number[] = []
    for (let network = 0; network < 30; network++)
      statuses.push((await nonce(`2001:db8:7:${network.toString(16)}::1`)).status)
    t.deepEqual(statuses, [...Array(20).fill(200), ...Array(10).fill(429)])
    const over = await nonce('2001:db8:7:ffff::1')
    t.is(over.headers.get('ratelimit-policy'), '"login-network";q=20;w=60')
    t.regex(over.headers.get('ratelimit') ?? '', /^"login-network";r=0;t=\d+$/)
    t.regex(over.headers.get('retry-after') ?? '', /^\d+$/)
    // One network cannot use up the budget of its neighbours, because it has its own.
    for (let time = 0; time < 30; time++) await nonce('2001:db8:8:1::1')
    t.is((await nonce('2001:db8:8:2::1')).status, 200)
    t.is((await nonce('198.51.100.7')).status, 200)
  },
)

test.serial(
  'while the store is down a logout is 503 but effective here; once the store is back it is permanent',
  async (t) => {
    const switched = withSwitch(opened.store, 'revoked_tokens')
    const heard: string[] = []
    const channel = createMemoryChannel()
    channel.listen({
      onLoggedOut: (tokenId) => void heard.push(tokenId),
      onLoggedOutEverywhere() {},
      onSuperseded() {},
      onRotated() {},
      onKeyDeleted() {},
      onAccessChanged() {},
      onBack() {},
    })
    const away = await startApi(switched.store, { channel })
    const token = await tokenOf(away, newWallet())
    switched.isAway = true
    t.is((await out(away, token)).status, 503)
    t.is((await out(away, token)).status, 401)
    t.deepEqual(heard, [decodeJwt(token).jti ?? ''])
    switched.isAway = false
    await away.close()
    const again = await startApi(opened.store, {
      config: { jwtKeys: away.config.jwtKeys, publicUrl: away.url },
    })
    t.is((await out(again, token)).status, 401)
    await again.close()
  },
)

const onRedis = REDIS_URL ? test.serial : test.serial.skip
onRedis('each process accepts the nonces of every process, each once', async (t) => {
  const redis = await connectRedis(new URL(REDIS_URL ?? ''), createLogger('silent'))
  const config = { publicUrl: 'https://api.example' }
  const [one, two] = [
    await startApi(opened.store, { redis, config }),
    await startApi(opened.store, { redis, config }),
  ]
  t.teardown(async () => {
    await Promise.all([one.close(), two.close()])
    redis.disconnect()
  })
  const wallet = newWallet()
  const { message } = (await post(one, '/auth/nonce', { wallet: wallet.address })).body
  const body = { wallet: wallet.address, message, signature: wallet.signText(String(message)) }
  t.is((await post(two, '/auth/login', body)).status, 200)
  for (const of of [one, two]) t.is((await post(of, '/auth/login', body)).status, 401)
})

onRedis(
  'logouts that Redis loses, with or without its connection, are read again before a token is accepted',
  async (t) => {
    const lossy = await connectLossyRedis(13)
    t.teardown(lossy.close)
    const { redis } = lossy
    const switched = withSwitch(opened.store, 'revoked_tokens')
    const own = await startApi(switched.store, { redis })
    t.teardown(() => own.close())
    const wallet = newWallet()
    const [token, kept] = [await tokenOf(own, wallet), await tokenOf(own, wallet)]
    const statuses = async () => {
      const answers = await Promise.all([token, kept].map((one) => ask(own, '/me/api', one)))
      return answers.map(({ status }) => status)
    }
    t.is((await out(own, token)).status, 204)
    t.deepEqual(await statuses(), [401, 200])

    await redis.del(REVOCATIONS)
    switched.isAway = true
    t.deepEqual(await statuses(), [503, 503])
    switched.isAway = false
    t.deepEqual(await statuses(), [401, 200])

    // Redis has lost the newest revocation but not the mark, which says that no entry is missing.
    await redis.zrem(REVOCATIONS, decodeJwt(token).jti ?? '')
    const isBack = once(redis, 'ready')
    lossy.cut()
    await isBack
    t.deepEqual(await statuses(), [401, 200])
  },
)

test.serial(
  'no log line, metric or refusal contains a token, a nonce, a signature or a message',
  async (t) => {
    const wallet = newWallet()
    const { nonce, message } = await challenge(wallet.address)
    const signature = wallet.signText(message)
    const { body } = await attempt(wallet.address, message, signature)
    const token = String(body.token)
    const refusals = [
      await attempt(wallet.address, message, signature),
      await ask(api, '/wallets', token),
      await post(api, '/auth/login', { wallet: token, message, signature }),
      await post(api, `/auth/login?token=${token}`, { wallet: wallet.address, message, signature }),
      await post(api, `/auth/${token}`, {}),
    ]
    t.true(refusals.every(({ status }) => status >= 400))
    const outside = [
      logged,
      await registry.metrics(),
      ...refusals.map((one) => JSON.stringify([one.body, ...one.headers])),
    ]
    const [, claims = ''] = token.split('.')
    for (const secret of [token, claims, nonce, signature, message, wallet.address])
      t.false(
        outside.some((text) => text.includes(secret)),
        secret.slice(0, 6),
      )
    const rows = JSON.stringify(await opened.store.query('SELECT * FROM revoked_tokens'))
    t.false(rows.includes(claims))
  },
)
