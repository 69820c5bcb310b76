import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { leaveSilentBroker, openSocket } from './kafka-sockets.ts'

test.serial(
  'a broker is refused for five seconds, also if the clock was days fast meanwhile',
  async (t) => {
    const { now } = Date
    const elapsed = performance.now.bind(performance)
    t.teardown(() => {
      Date.now = now
      performance.now = elapsed
    })
    const errorOf = async () => {
      const [error] = await once(
        openSocket({ host: '127.0.0.1', port: 1, onConnect: () => {} }),
        'error',
      )
      return error.message
    }
    Date.now = () => now() + 240 * 3_600_000
    leaveSilentBroker('127.0.0.1:1')
    Date.now = now
    const refused = 'the broker did not answer in time'
    t.is(await errorOf(), refused)
    performance.now = () => elapsed() + 4000
    t.is(await errorOf(), refused)
    performance.now = () => elapsed() + 5001
    t.is(await errorOf(), 'connect ECONNREFUSED 127.0.0.1:1')
  },
)

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
