import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { createLogger } from '../runtime/logger.ts'
import { createKafkaClient, withAdmin } from './kafka-client.ts'
import { byAnswer, leaveSilentBroker, openSocket } from './kafka-sockets.ts'

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

test('a broker that accepts connections and answers nothing is left after five seconds: the next of the list is asked', async (t) => {
  const silent = createServer()
  const next = createServer((socket) => socket.destroy())
  const brokers = await Promise.all([silent, next].map(listen))
  t.teardown(() => {
    silent.close()
    next.close()
  })
  const config = { brokers, topicPrefix: '', ssl: false, sasl: null }
  const kafka = createKafkaClient(config, createLogger('silent'))
  const started = performance.now()
  const described = withAdmin(kafka, (admin) => admin.describeCluster())
  const asked = once(next, 'connection').then(() => 'the next is asked')
  t.is(await Promise.race([asked, described.catch(({ message }) => message)]), 'the next is asked')
  t.true(performance.now() - started >= 5000)
  await t.throwsAsync(described)
  // A client of later asks the other one at once.
  t.deepEqual(byAnswer(brokers), brokers.toReversed())
})

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
