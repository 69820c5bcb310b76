import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { leaveSilentBroker, openSocket } from './kafka-sockets.ts'

test('connections that fail many requests before they are open leave no warning on stderr', async (t) => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  leaveSilentBroker('192.0.2.1:9092')
  const refused = openSocket({ host: '192.0.2.1', port: 9092, onConnect: () => {} })
  const unresolved = openSocket({ host: 'broker.invalid', port: 9092, onConnect: () => {} })
  for (const socket of [refused, unresolved]) {
    socket.on('error', () => {})
    // As kafkajs does for each request that fails.
    for (let failed = 0; failed < 20; failed += 1) socket.unref()
    socket.destroy()
  }
  await nextTurn()
  t.deepEqual(warnings, [])
})
