import { Writable } from 'node:stream'
import test from 'ava'
import { pino } from 'pino'
import { ask } from '../testing/ask.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * `POST /mcp` as strangers, faulty programs and pages of other origins use it (rules D1, M2).
 */

const ORIGIN = 'https://app.example'
const SECRET = 'text-of-a-stranger'
let opened: TestStore
let api: TestApi
let key: string
let wallet: Parameters<TestApi['token']>[0]
let isOverloaded = false
let logged = ''

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 2)
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  api = await startApi(opened.store, {
    config: { corsOrigins: [ORIGIN] },
    logger: pino({ level: 'debug' }, sink),
    loadShedder: { admits: () => !isOverloaded },
  })
  await api.writer.moveTo(100)
  ;({ key, wallet } = await api.customer(100))
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const call = (name: string, given: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given, ...more },
})

async function post(body: unknown, headers: Record<string, string> = {}, bearer = key) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return ask(api, '/mcp', bearer, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  })
}

test.serial(
  'what is no message of MCP is refused with a problem document, and costs nothing',
  async (t) => {
    const nested = `${'['.repeat(8000)}${']'.repeat(8000)}`
    const refusals: readonly (readonly [unknown, number, string, Record<string, string>?])[] = [
      ['', 400, 'invalid_parameter'],
      [`{"${SECRET}`, 400, 'invalid_parameter'],
      ['null', 400, 'invalid_parameter'],
      ['7', 400, 'invalid_parameter'],
      [`"${SECRET}"`, 400, 'invalid_parameter'],
      ['{}', 400, 'invalid_parameter'],
      [nested, 400, 'invalid_parameter'],
      [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }, 400, 'invalid_parameter'],
      [{ jsonrpc: '2.0', id: {}, method: SECRET }, 400, 'invalid_parameter'],
      [[call('list_wallets', {})], 400, 'invalid_parameter'],
      [[], 400, 'invalid_parameter'],
      [Array.from({ length: 100 }, () => call('list_wallets', {})), 400, 'invalid_parameter'],
      [call('list_wallets', {}), 400, 'invalid_parameter', { 'mcp-protocol-version': SECRET }],
      [call('list_wallets', {}), 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
      [call('list_wallets', {}), 415, 'unsupported_media_type', { 'content-encoding': 'gzip' }],
      [call('search', { q: 'a'.repeat(20_000) }), 413, 'payload_too_large'],
    ]
    for (const [body, status, code, headers] of refusals) {
      const answer = await post(body, headers)
      t.deepEqual(
        [answer.status, answer.body.code],
        [status, code],
        JSON.stringify(body).slice(0, 80),
      )
      t.is(answer.headers.get('content-type'), 'application/problem+json')
      t.is(answer.headers.get('x-credits-cost'), '0')
      t.false(JSON.stringify(answer.body).includes(SECRET))
    }
    t.is(await api.credits.left(wallet), 100)
    t.regex(String((await post([])).body.title), /batches are not supported/)
  },
)

test.serial(
  'faults of a message that has an id are JSON-RPC errors, and cost nothing',
  async (t) => {
    const errorOf = async (body: object) =>
      ((await post(body)).body as { error?: { code: number; message: string } }).error
    t.deepEqual(await errorOf({ jsonrpc: '2.0', id: 1, method: SECRET }), {
      code: -32601,
      message: 'Method not found',
    })
    const unknown = await errorOf(call(SECRET, {}))
    t.is(unknown?.code, -32602)
    t.regex(unknown?.message ?? '', /tools\/list has all/)
    // The SDK would refuse the result of a tool that ran as a task.
    t.is((await errorOf(call('list_wallets', {}, { task: { ttl: 1 } })))?.code, -32603)
    for (const given of [[], 'x', 7]) t.truthy(await errorOf(call('list_wallets', given)))
    t.is(await api.credits.left(wallet), 100)
    for (const name of ['__proto__', 'constructor', 'toString']) {
      t.is((await errorOf(call(name, {})))?.code, -32602)
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_wallets","arguments":{"${name}":1}}}`
      const { result } = (await post(body)).body as { result?: { isError?: boolean } }
      if (name !== '__proto__') t.true(result?.isError)
    }
    const surrogate = await post(call('get_wallet_metrics', { alias: '\ud800' }))
    t.regex(JSON.stringify(surrogate.body), /wallet_not_found/)
    const left = await api.credits.left(wallet)
    t.true(left >= 99)
  },
)

test.serial('a notification is 202 without a body; other methods of HTTP are 405', async (t) => {
  const notified = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  t.deepEqual([notified.status, notified.body as object], [202, {}])
  for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
    const { status, headers } = await ask(api, '/mcp', key, { method })
    t.deepEqual([status, headers.get('allow')], [405, 'POST'], method)
  }
})

test.serial('a page of another origin is refused before its key is looked at', async (t) => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil`, 'http://localhost']) {
    const { status, body } = await post(list, { origin }, 'tw_none')
    t.deepEqual([status, body.code], [403, 'origin_not_allowed'], origin)
  }
  for (const origin of [ORIGIN, new URL(api.url).origin])
    t.is((await post(list, { origin })).status, 200, origin)
})

test.serial('under overload calls are 503 and cost nothing (rule D9)', async (t) => {
  isOverloaded = true
  const { status, headers } = await post(call('list_wallets', {}))
  isOverloaded = false
  t.deepEqual([status, headers.get('retry-after')], [503, '1'])
})

test.serial('a key is needed for every message', async (t) => {
  for (const method of ['initialize', 'tools/list', 'tools/call', 'ping']) {
    const { status, headers } = await post({ jsonrpc: '2.0', id: 1, method }, {}, '')
    t.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer'])
  }
})

test.serial('a client that disconnects ends its wait, and nothing is charged', async (t) => {
  const before = await api.credits.left(wallet)
  const gone = new AbortController()
  const waiting = fetch(`${api.url}/mcp`, {
    method: 'POST',
    signal: gone.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(call('follow_trades', { wait_seconds: 25 })),
  })
  waiting.catch(() => {})
  const waits = async () =>
    ((await ask(api, '/status')).body.feed as { connections: number }).connections
  while ((await waits()) === 0);
  gone.abort()
  while ((await waits()) > 0);
  t.is(await api.credits.left(wallet), before)
})

test.serial('what strangers send is not logged, nor any key', (t) => {
  t.false(logged.includes(SECRET))
  t.false(logged.includes(key))
  t.notRegex(logged, /"level":50/)
})

test('requests count for the limits of the account', async (t) => {
  const { NO_ACCOUNT_LIMITS } = await import('../config.ts')
  const limited = await startApi(opened.store, {
    config: { accountLimits: { ...NO_ACCOUNT_LIMITS, requestsPerMinute: 2 } },
  })
  const one = await limited.customer(10)
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) {
    const { status } = await ask(limited, '/mcp', one.key, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call('get_account', {})),
    })
    statuses.push(status)
  }
  t.deepEqual(statuses, [200, 200, 429])
  await limited.close()
})
