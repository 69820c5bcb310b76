import test from 'ava'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

let opened: TestStore
let api: TestApi
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
  api = await startApi(opened.store, {
    config: { rateLimitPerMinute: 3, trustedProxies: 1, corsOrigins: ['https://app.example'] },
  })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const ask = (path: string, client: string, init: RequestInit = {}) =>
  fetch(`${api.url}${path}`, { ...init, headers: { 'x-forwarded-for': client, ...init.headers } })

test('each client has a number of requests a minute, shown in the RateLimit fields; beyond it is 429 with Retry-After, before the key is checked (rules D2, D6)', async (t) => {
  const { key, wallet } = await api.customer(100)
  const withKey = { headers: { authorization: `Bearer ${key}` } }
  const requests: [string, RequestInit][] = [
    ['/nothing', {}], // neither counts
    ['/wallets', { method: 'POST' }],
    ['/wallets', withKey],
    ['/wallets', {}],
    ['/ws', {}],
    ['/wallets', withKey],
    ['/ws', withKey],
    ['/status', {}], // not for monitoring
  ]
  const answers = []
  for (const [path, init] of requests) {
    const { status, headers } = await ask(path, '198.51.100.1', init)
    const seconds = (name: string) =>
      headers.get(name)?.replace(/(?<=^|t=)([1-9]|[1-5]\d|60)$/, '60')
    answers.push([
      status,
      headers.get('ratelimit-policy'),
      seconds('ratelimit') ?? null,
      seconds('retry-after') ?? null,
      headers.get('x-credits-cost'),
    ])
  }
  const policy = '"default";q=3;w=60'
  t.deepEqual(answers, [
    [404, null, null, null, null],
    [405, null, null, null, null],
    [200, policy, '"default";r=2;t=60', null, '1'],
    [401, policy, '"default";r=1;t=60', null, '0'],
    [401, policy, '"default";r=0;t=60', null, '0'],
    [429, policy, '"default";r=0;t=60', '60', '0'],
    [429, policy, '"default";r=0;t=60', '60', '0'],
    [200, null, null, null, null],
  ])
  t.is(await api.credits.left(wallet), 99)
  t.is((await ask('/wallets', '198.51.100.2', withKey)).status, 200)
  // An entry that the client itself wrote before the proxy's is not trusted.
  t.is((await ask('/wallets', '203.0.113.9, 198.51.100.1', withKey)).status, 429)
})

test('pages of configured origins may call and read every header field; others get responses without CORS headers (CORS_ORIGINS)', async (t) => {
  const from = (origin: string, client: string) => ask('/status', client, { headers: { origin } })
  const known = await from('https://app.example', '192.0.2.1')
  t.is(known.headers.get('access-control-allow-origin'), 'https://app.example')
  t.regex(known.headers.get('access-control-expose-headers') ?? '', /X-Credits-Remaining/)
  t.is(known.headers.get('access-control-allow-credentials'), null)
  t.is(known.headers.get('vary'), 'Origin')
  const foreign = await from('https://evil.example', '192.0.2.1')
  t.is(foreign.status, 200)
  t.is(foreign.headers.get('access-control-allow-origin'), null)

  const preflight = (origin: string) =>
    ask('/trades', '192.0.2.1', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    })
  const allowed = await preflight('https://app.example')
  t.is(allowed.status, 204)
  t.is(
    allowed.headers.get('access-control-allow-headers'),
    'Authorization,Content-Type,If-None-Match,MCP-Protocol-Version',
  )
  const refused = await preflight('https://evil.example')
  t.is(refused.status, 405)
  t.is(refused.headers.get('access-control-allow-origin'), null)
})
