import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { isAllowedAddress } from '../webhooks/public-address.ts'
import { createReceivers } from './receiver.ts'

test('only addresses of the public internet are allowed, and loopback where tests need it', (t) => {
  const refused = [
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0.0.0.0'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '203.0.113.5'],
    ...['::', 'fc00::1', 'fd12::1', 'fe80::1', 'ff02::1', '2001:db8::1', '64:ff9b::a00:1'],
    ...['::ffff:10.0.0.1', '2002:a00:1::', '2001::1', 'not an address', ''],
  ]
  for (const address of refused)
    for (const loopback of [false, true]) t.false(isAllowedAddress(address, loopback), address)
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
    t.false(isAllowedAddress(address, false), address)
    t.true(isAllowedAddress(address, true), address)
  }
  for (const address of ['8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
    t.true(isAllowedAddress(address, false), address)
})

/** Starts a receiver. Returns its URL, and the requests that it got. */
async function startReceiver(
  t: ExecutionContext,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
) {
  const requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    answer(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // a TCP address
  return { requests, port }
}

const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'one' }

test('a delivery is posted with its headers; a status, a redirect and Retry-After come back', async (t) => {
  const answers = [
    [204, {}],
    [500, {}],
    [503, { 'retry-after': '17' }],
    [301, { location: '/elsewhere' }],
    [410, {}],
  ] as const
  let at = 0
  const { requests, port } = await startReceiver(t, (response) => {
    const [status, headers] = answers[at++] ?? [200, {}]
    response.writeHead(status, headers).end('thank you')
  })
  const receivers = createReceivers({ loopback: true })
  t.teardown(() => receivers.close())
  const outcomes: unknown[] = []
  for (const _ of answers) {
    const { latencyMs, ...outcome } = await receivers.post(
      `http://127.0.0.1:${port}/hook?a=1`,
      HEADERS,
      '{"a":1}',
    )
    t.true(latencyMs >= 0)
    outcomes.push(outcome)
  }
  t.deepEqual(outcomes, [
    { failure: null, status: 204, retryAfterSeconds: null },
    { failure: 'status', status: 500, retryAfterSeconds: null },
    { failure: 'status', status: 503, retryAfterSeconds: 17 },
    { failure: 'redirect', status: 301, retryAfterSeconds: null },
    { failure: 'status', status: 410, retryAfterSeconds: null },
  ])
  t.is(requests.length, answers.length, 'no redirect was followed')
  t.is(requests[0]?.body, '{"a":1}')
  t.is(requests[0]?.headers['webhook-id'], 'one')
})

test('addresses that are not public are refused, also behind a name, and nothing is sent there', async (t) => {
  const { requests, port } = await startReceiver(t, (response) => response.end())
  const receivers = createReceivers({ loopback: false })
  t.teardown(() => receivers.close())
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '0.0.0.0',
    '2130706433',
  ])
    t.like(
      await receivers.post(`http://${host}:${port}/`, HEADERS, '{}'),
      { failure: 'address_not_allowed', status: 0 },
      host,
    )
  t.is(requests.length, 0)
})

test('no connection, an unknown name, no answer in time and an answer without end are failures', async (t) => {
  const silent = await startReceiver(t, () => {})
  const endless = await startReceiver(t, (response) => {
    response.writeHead(200)
    const write = () => {
      if (response.write('x'.repeat(64_000))) setImmediate(write)
      else response.once('drain', write)
    }
    write()
  })
  const closed = await startReceiver(t, (response) => response.destroy())
  const [patient, impatient] = [10_000, 300].map((timeoutMs) =>
    createReceivers({ loopback: true, timeoutMs }),
  )
  t.teardown(() => Promise.all([patient?.close(), impatient?.close()]))
  const post = async (url: string, receivers = patient) =>
    (await receivers?.post(url, HEADERS, '{}'))?.failure
  t.is(await post('http://127.0.0.1:1/'), 'no_connection')
  t.is(await post('http://nowhere.invalid/'), 'unknown_host')
  t.is(await post(`http://127.0.0.1:${silent.port}/`, impatient), 'no_answer')
  t.is(await post(`http://127.0.0.1:${closed.port}/`), 'no_answer')
  t.is(await post(`http://127.0.0.1:${endless.port}/`), null, 'what it says does not matter')
})

test('a delivery that its sender gives up ends at once', async (t) => {
  const silent = await startReceiver(t, () => leaving.abort())
  const receivers = createReceivers({ loopback: true })
  t.teardown(() => receivers.close())
  const leaving = new AbortController()
  const url = `http://127.0.0.1:${silent.port}/`
  for (let round = 0; round < 2; round++)
    t.like(await receivers.post(url, HEADERS, '{}', leaving.signal), {
      failure: 'no_answer',
      status: 0,
    })
})
