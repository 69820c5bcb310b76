import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { WebSocket } from 'ws'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { startApi } from '../testing/start-api.ts'

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
