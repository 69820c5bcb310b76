import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test from 'ava'
import { createWallets } from '../../domain/wallets.ts'
import { subscribeRequest } from './subscribe-request.ts'
import { openUpdateStream } from './yellowstone.ts'

test('a server that takes connections and says nothing is given up, and no connection to it stays open', async (t) => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket.resume())).listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo // of a listening server
  const end = await openUpdateStream({
    endpoint: `http://127.0.0.1:${port}`,
    xToken: null,
    request: subscribeRequest({ wallets: createWallets([]), accounts: [], fromSlot: null }),
    onUpdate: () => t.fail(),
    onEnd: () => t.fail(),
  })
  t.deepEqual(end, { kind: 'failed', message: 'no connection within 4000 ms' })
  t.is(sockets.length, 1)
  const signal = AbortSignal.timeout(10_000)
  for (const socket of sockets) if (!socket.closed) await once(socket, 'close', { signal })
  t.true(sockets[0]?.closed)
})
