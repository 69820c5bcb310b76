import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { WebSocket } from 'ws'
import { HEADERS } from '../middleware/headers.ts'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { startApi } from '../testing/start-api.ts'
import { refuseUpgrade } from './upgrade-server.ts'

test('an open socket keeps neither the request that opened it nor its response in memory', async (t) => {
  setFlagsFromString('--expose_gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const opened = await openEmbeddedStore()
  const api = await startApi(opened.store)
  t.teardown(async () => {
    await api.close()
    await opened.remove()
  })
  const responses: WeakRef<ServerResponse>[] = []
  const { assignSocket } = ServerResponse.prototype
  ServerResponse.prototype.assignSocket = function (socket) {
    responses.push(new WeakRef(this))
    assignSocket.call(this, socket)
  }
  const { key } = await api.customer(100)
  const webSocket = new WebSocket(api.url.replace('http', 'ws').concat('/ws'), {
    headers: { authorization: `Bearer ${key}` },
  })
  t.teardown(() => webSocket.terminate())
  await once(webSocket, 'open')
  const subscribed = once(webSocket, 'message')
  webSocket.send(JSON.stringify({ action: 'subscribe', channels: ['trades'] }))
  await subscribed
  await new Promise(setImmediate)
  collectGarbage()
  t.deepEqual(
    responses.map((response) => response.deref()?.constructor.name),
    [undefined],
  )
})

/** The status and the header fields of a refused upgrade, without those of every response. */
async function refusal(code: Parameters<typeof refuseUpgrade>[1]) {
  const socket = new PassThrough()
  refuseUpgrade(socket, code)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [status, ...lines] = head.split('\r\n')
  const { 'X-Request-Id': id, ...fields } = Object.fromEntries(
    lines.map((line) => line.split(': ') as [string, string]),
  )
  const problem = JSON.parse(body) as { code: string; request_id: string }
  for (const [name, value] of Object.entries(HEADERS)) {
    if (fields[name] !== value) throw new Error(`${name}: ${fields[name]}`)
    delete fields[name]
  }
  const isNamed = id === problem.request_id && Number(fields['Content-Length']) === body.length
  return { status, code: problem.code, isNamed, fields: { ...fields, 'Content-Length': '' } }
}

test('a refused upgrade has the header fields of every refusal (rule D1)', async (t) => {
  const common = { 'Content-Type': 'application/problem+json', 'Content-Length': '' }
  t.deepEqual(await refusal('unavailable'), {
    status: 'HTTP/1.1 503 Service Unavailable',
    code: 'unavailable',
    isNamed: true,
    fields: { ...common, Connection: 'close', 'Retry-After': '1' },
  })
  t.deepEqual(await refusal('upgrade_required'), {
    status: 'HTTP/1.1 426 Upgrade Required',
    code: 'upgrade_required',
    isNamed: true,
    fields: {
      ...common,
      Connection: 'Upgrade, close',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
    },
  })
})
