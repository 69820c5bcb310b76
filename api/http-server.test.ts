import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { WebSocket, WebSocketServer } from 'ws'
import { createRegistry } from '../pipeline/runtime/telemetry.ts'
import { createHttpServer, type HttpServerOptions } from './http-server.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi } from './testing/start-api.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
})
test.after.always(() => opened.remove())

/**
 * A client that reads everything, and keeps its own side open whatever the server does. `ended`
 * resolves when the server has ended its side, which may be before the client is returned.
 */
async function open(port: number, text = '') {
  const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  const ended = once(socket, 'end')
  ended.catch(() => {}) // of a test that does not wait for it
  let heard = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    heard += chunk
  })
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return { socket, ended, heard: () => heard }
}

const UPGRADE = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n'

/** A server with the given timeouts. `sockets` are the server's side of its connections. */
async function serve(
  t: ExecutionContext,
  options: HttpServerOptions,
  listener: RequestListener = (_request, response) => response.end('ok'),
) {
  const server = createHttpServer(options)
  const sockets: Socket[] = []
  const noted: RequestListener = (request, response) => {
    sockets.push(request.socket)
    listener(request, response)
  }
  const port = await server.listen(noted, '127.0.0.1', 0)
  t.teardown(() => server.close(0))
  return { server, port, sockets }
}

test('a connection with a refused upgrade is closed, even if its client never closes', async (t) => {
  const { port, sockets } = await serve(t, { lingerMs: 50 })
  const { socket, ended, heard } = await open(port, `GET / HTTP/1.1\r\n${UPGRADE}`)
  await ended
  t.regex(heard(), /^HTTP\/1\.1 200 OK\r\n.*ok$/s)
  const [served] = sockets
  if (served && !served.closed) await once(served, 'close')
  t.true(served?.destroyed)
  socket.destroy()
})

test('a connection with a refused upgrade is closed as soon as its client closes', async (t) => {
  const { port, sockets } = await serve(t, { lingerMs: 600_000 })
  const { socket, ended } = await open(port, `GET / HTTP/1.1\r\n${UPGRADE}`)
  await ended
  socket.end('text that is not read')
  const [served] = sockets
  if (served && !served.closed) await once(served, 'close')
  t.true(served?.destroyed)
})

test('a request for an upgrade with a body is answered', async (t) => {
  const api = await startApi(opened.store)
  const head =
    'POST /auth/nonce HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n'
  const { socket, ended, heard } = await open(Number(new URL(api.url).port), `${head}${UPGRADE}{}`)
  await ended
  t.regex(heard(), /^HTTP\/1\.1 400 .*"code":"invalid_parameter"/s)
  socket.destroy()
  await api.close()
})

test('the service stops within its time limit, with any open connections', async (t) => {
  const api = await startApi(opened.store)
  const port = Number(new URL(api.url).port)
  const { key } = await api.customer(10)
  const clients = await Promise.all([
    ...Array.from({ length: 20 }, () => open(port, `GET /healthz HTTP/1.1\r\n${UPGRADE}`)),
    open(port),
    open(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n'),
    open(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'),
  ])
  await Promise.all(clients.slice(0, 20).map(({ ended }) => ended))
  const follower = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await once(follower, 'open')
  const started = performance.now()
  await api.close()
  t.true(performance.now() - started < 4000)
  for (const { socket } of clients) socket.destroy()
})

test('closing destroys connections that remain after the grace period, upgraded ones too', async (t) => {
  const { server, port, sockets } = await serve(t, { lingerMs: 600_000 }, (request, response) => {
    if (server.upgradeOf(request) === undefined) return // never answered
    response.detachSocket(request.socket) // as if it was handed over
  })
  const clients = [
    await open(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    await open(port, `GET / HTTP/1.1\r\n${UPGRADE}`),
    await open(port),
  ]
  while (sockets.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await server.close(20)
  t.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true, true],
  )
  for (const { socket } of clients) socket.destroy()
})

test('while a server closes, a response under way is the last one of its connection (J5)', async (t) => {
  const responses: ServerResponse[] = []
  const { server, port } = await serve(t, {}, (_request, response) => responses.push(response))
  const { socket, ended, heard } = await open(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  while (responses.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const closed = server.close(1000)
  responses[0]?.end('ok')
  await ended
  t.regex(heard(), /^HTTP\/1.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n(?:.*\r\n)*\r\nok$/)
  socket.destroy()
  await closed
})

/** More than the kernel buffers per connection. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'a')
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`

test('a client that does not read its response is disconnected, also while it sends; slow readers, slow responses and WebSockets are not', async (t) => {
  const webSockets = new WebSocketServer({ noServer: true })
  const responses = new Map<string, ServerResponse>()
  // Much longer than a busy machine stops the event loop, because an idle socket ends after this
  // time too.
  const { server, port } = await serve(t, { stallTimeoutMs: 2000 }, (request, response) => {
    responses.set(request.url ?? '', response)
    const upgrade = server.upgradeOf(request)
    if (upgrade !== undefined) {
      response.detachSocket(request.socket)
      webSockets.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (webSocket) => {
        webSocket.on('message', () => webSocket.send('here'))
      })
    } else if (request.url !== '/slow-answer') response.end(LARGE)
  })
  const follower = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(follower, 'open')
  const waiting = await open(port, get('/slow-answer'))
  const slow = createConnection(port, '127.0.0.1')
  slow.write(get('/slow-reader'))
  const received = readSlowly(slow)
  const unread = createConnection(port, '127.0.0.1')
  unread.on('error', () => {})
  unread.write(get('/unread'))
  const busy = createConnection(port, '127.0.0.1')
  busy.on('error', () => {})
  busy.write(get('/sends-on'))
  const sends = setInterval(() => busy.write('\r\n'), 100)
  t.teardown(() => clearInterval(sends))
  await until(() => ['/unread', '/sends-on'].every((path) => responses.get(path)?.destroyed))

  t.true((await received) > LARGE.length)
  responses.get('/slow-answer')?.end('at last')
  await waiting.ended
  t.regex(waiting.heard(), /at last$/)
  follower.send('are you there?')
  t.is(String((await once(follower, 'message'))[0]), 'here')
  follower.terminate()
  for (const socket of [unread, busy, waiting.socket]) socket.destroy()
})

test('connections beyond the limits are closed at once and counted; a closed one makes room', async (t) => {
  const refused: string[] = []
  const { port } = await serve(t, {
    maxConnections: 3,
    maxConnectionsPerAddress: 2,
    onRefused: (reason) => refused.push(reason),
  })
  const client = async (localAddress: string) => {
    const socket = createConnection({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return { socket, isServed: Buffer.isBuffer(first) }
  }
  const served = async (...addresses: string[]) => {
    const clients = []
    for (const address of addresses) clients.push(await client(address))
    return clients
  }
  const first = await served('127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.3')
  t.deepEqual(
    first.map(({ isServed }) => isServed),
    [true, true, false, true, false],
  )
  t.deepEqual(refused, ['address', 'total'])
  first[0]?.socket.destroy()
  let again = await client('127.0.0.1')
  while (!again.isServed) again = await client('127.0.0.1')
  t.true(again.isServed)
  for (const { socket } of [...first, again]) socket.destroy()
})

test('a limit of 0 refuses no connection', async (t) => {
  const { port } = await serve(t, { maxConnections: 0, maxConnectionsPerAddress: 0 })
  const clients = await Promise.all(Array.from({ length: 20 }, () => open(port, get('/'))))
  await Promise.all(clients.map(({ ended }) => ended))
  t.true(clients.every(({ heard }) => heard().endsWith('ok')))
  for (const { socket } of clients) socket.destroy()
})

test('WebSockets count as connections; refused connections are counted', async (t) => {
  const registry = createRegistry()
  const config = { maxConnectionsPerAddress: 2 }
  const api = await startApi(opened.store, { registry, config })
  const port = Number(new URL(api.url).port)
  const { key } = await api.customer(10)
  const follower = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await once(follower, 'open')
  const second = await open(port)
  const third = await open(port)
  await third.ended
  t.regex(await registry.metrics(), /^api_connections_refused_total\{reason="address"\} 1$/m)
  for (const { socket } of [second, third]) socket.destroy()
  follower.terminate()
  await api.close()
})

test('behind proxies connections are not counted by address', async (t) => {
  const config = { maxConnectionsPerAddress: 1, trustedProxies: 1 }
  const api = await startApi(opened.store, { config })
  const port = Number(new URL(api.url).port)
  const clients = await Promise.all(Array.from({ length: 3 }, () => open(port, get('/healthz'))))
  await Promise.all(clients.map(({ ended }) => ended))
  t.true(clients.every(({ heard }) => heard().startsWith('HTTP/1.1 200')))
  for (const { socket } of clients) socket.destroy()
  await api.close()
})

test('a request without exactly one valid Host field is refused before anything else', async (t) => {
  const api = await startApi(opened.store)
  const port = Number(new URL(api.url).port)
  const answerTo = async (line: string, fields: readonly string[]) => {
    const { socket, ended, heard } = await open(port, [line, ...fields, '\r\n'].join('\r\n'))
    await ended
    socket.destroy()
    const [head = '', body = ''] = heard().split('\r\n\r\n')
    const { code } = JSON.parse(body)
    return [Number(head.slice(9, 12)), code, /^content-type: (.*)$/im.exec(head)?.[1]]
  }
  const close = 'Connection: close'
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket']
  const bad = [400, 'bad_request', 'application/problem+json']
  const hosts: readonly (readonly string[])[] = [
    ['Host: a', 'Host: a'],
    ['Host: a', 'hOST: b'],
    ['Host:'],
    ['Host: a b'],
    ['Host: a,b'],
    ['Host: user@a'],
    ['Host: a/b'],
    ['Host: a:b'],
    ['Host: [::1'],
    ['Host: [x]'],
    [],
  ]
  for (const host of hosts)
    for (const line of ['GET /healthz HTTP/1.1', 'PUT /nothing HTTP/1.1'])
      for (const more of [[close], upgrade])
        t.deepEqual(await answerTo(line, [...host, ...more]), bad, `${line} ${host}`)
  t.deepEqual(await answerTo('GET /healthz HTTP/1.0', ['Host: a', 'Host: b']), bad)
  for (const host of [
    ['Host: a.example:8080'],
    ['Host: [::1]:80'],
    ['Host: 127.0.0.1'],
    ['Host: a_b'],
  ])
    t.is((await answerTo('GET /healthz HTTP/1.1', [...host, close]))[0], 200, String(host))
  t.is((await answerTo('GET /healthz HTTP/1.0', []))[0], 200)
  await api.close()
})

test('an invalid WebSocket handshake is 426, and an unknown expectation is ignored', async (t) => {
  const api = await startApi(opened.store)
  const port = Number(new URL(api.url).port)
  const { key } = await api.customer(10)
  const answerTo = async (path: string, fields: readonly string[]) => {
    const text = [`GET ${path} HTTP/1.1`, 'Host: a', ...fields, '\r\n'].join('\r\n')
    const { socket, ended, heard } = await open(port, text)
    await ended
    socket.destroy()
    const [head = '', body = ''] = heard().split('\r\n\r\n')
    return [Number(head.slice(9, 12)), JSON.parse(body).code, /^x-request-id: ./im.test(head)]
  }
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', `Authorization: Bearer ${key}`]
  const version = 'Sec-WebSocket-Version: 13'
  const webSocketKey = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`
  for (const fields of [
    [],
    [version],
    [version, 'Sec-WebSocket-Key: x'],
    ['Sec-WebSocket-Version: 12', webSocketKey],
  ])
    t.deepEqual(await answerTo('/ws', [...upgrade, ...fields]), [426, 'upgrade_required', true])
  t.deepEqual(await answerTo('/nowhere', ['Connection: close', 'Expect: 200-maybe']), [
    404,
    'not_found',
    true,
  ])
  await api.close()
})

test('an upgrade behind a request that is still being answered closes its connection, and nothing else', async (t) => {
  const api = await startApi(opened.store)
  const port = Number(new URL(api.url).port)
  for (const first of ['/healthz', '/nowhere', '/trades']) {
    const text = `GET ${first} HTTP/1.1\r\nHost: a\r\n\r\nGET /ws HTTP/1.1\r\n${UPGRADE}`
    const { socket } = await open(port, text)
    await Promise.race([once(socket, 'end'), once(socket, 'close')])
    socket.destroy()
    t.is((await fetch(`${api.url}/healthz`)).status, 200)
  }
  await api.close()
})

test('a body that no handler reads is read for a bounded time only', async (t) => {
  const { port, sockets } = await serve(t, { lingerMs: 50 })
  const head = 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'
  const { socket, ended, heard } = await open(port, head)
  await ended
  t.regex(heard(), /^HTTP\/1\.1 200 OK/)
  const [served] = sockets
  if (served && !served.closed) await once(served, 'close')
  t.true(served?.destroyed)
  socket.destroy()
})

test('a second Host header is found behind any number of header fields', async (t) => {
  const { port } = await serve(t, {})
  const many = 'A:\r\n'.repeat(2100)
  const { socket, ended, heard } = await open(
    port,
    `GET / HTTP/1.1\r\nHost: a\r\n${many}Host: b\r\nConnection: close\r\n\r\n`,
  )
  await ended
  t.regex(heard(), /^HTTP\/1\.1 400 /)
  socket.destroy()
})

async function until(satisfied: () => boolean): Promise<void> {
  while (!satisfied()) await pause(5)
}

/** Reads 1 MB at a time with a pause after each, and returns the number of bytes. */
async function readSlowly(socket: Socket): Promise<number> {
  let length = 0
  for await (const chunk of socket) {
    if (Math.floor(length / 2 ** 20) !== Math.floor((length + chunk.length) / 2 ** 20))
      await pause(20)
    length += chunk.length
  }
  return length
}

test('a request target may be a path or a whole URL; others are refused', async (t) => {
  const { port } = await serve(t, {}, (request, response) => response.end(`got ${request.url}`))
  const ask = async (target: string) => {
    const { socket, ended, heard } = await open(
      port,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    )
    await ended
    socket.destroy()
    const [head = '', body = ''] = heard().split('\r\n\r\n')
    return [Number(head.slice(9, 12)), body.startsWith('{') ? JSON.parse(body).title : body]
  }
  t.deepEqual(await ask('http://a/trades?limit=2'), [200, 'got /trades?limit=2'])
  t.deepEqual(await ask('HTTPS://a:1'), [200, 'got /'])
  const refused = [400, 'The target of the request is not a valid URL.']
  for (const target of ['http://[::bad/', 'ftp://a/', 'http://a:99999/'])
    t.deepEqual(await ask(target), refused, target)
})
