import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import test from 'ava'
import { startFlakyRelay } from './flaky-relay.ts'

test('a relay that hangs keeps connections and passes nothing until it is mended', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relay = await startFlakyRelay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const client = connect(Number(new URL(relay.url).port), '127.0.0.1').setEncoding('utf8')
  let received = ''
  client.on('data', (text: string) => {
    received += text
  })
  client.write('a')
  await once(client, 'data')
  relay.fail('hang')
  client.write('b')
  // An answer on a connection past the relay takes longer than one through it would.
  const other = connect((server.address() as AddressInfo).port, '127.0.0.1')
  other.write('c')
  await once(other, 'data')
  other.write('d')
  await once(other, 'data')
  t.deepEqual([received, client.readyState], ['a', 'open'])
  relay.fail(null)
  await once(client, 'data')
  t.is(received, 'ab')
  other.destroy()
  await relay.close()
  server.close()
})
