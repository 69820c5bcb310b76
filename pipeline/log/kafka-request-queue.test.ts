import test from 'ava'
import { createLogger } from '../runtime/logger.ts'
import './kafka-client.ts'
import { type RequestQueue, RequestQueueClass } from './kafka-request-queue.ts'

/** What these tests use of a request queue. */
interface Queue extends RequestQueue {
  readonly throttleCheckTimeoutId: NodeJS.Timeout | null
  push(request: {
    readonly entry: { readonly correlationId: number }
    readonly expectResponse: boolean
    sendRequest(): void
  }): void
  fulfillRequest(response: {
    readonly correlationId: number
    readonly size: number
    readonly payload: null
  }): void
  maybeThrottle(ms: number): void
  destroy(): void
}

const openQueue = () =>
  new (RequestQueueClass as unknown as new (options: object) => Queue)({
    maxInFlightRequests: 1,
    requestTimeout: 1000,
    clientId: 'test',
    broker: 'test',
    logger: createLogger('silent'),
  })

test('a connection with no request to send sets no timer (kafkajs 1704)', (t) => {
  const queue = openQueue()
  queue.push(request(1, () => {}))
  queue.fulfillRequest({ correlationId: 1, size: 0, payload: null })
  t.is(queue.throttleCheckTimeoutId, null)
  queue.destroy()
})

test('a request that waits behind another one, or for the broker, is sent', async (t) => {
  const queue = openQueue()
  const sent: number[] = []
  queue.push(request(1, () => sent.push(1)))
  queue.push(request(2, () => sent.push(2)))
  t.deepEqual(sent, [1])
  queue.fulfillRequest({ correlationId: 1, size: 0, payload: null })
  t.deepEqual(sent, [1, 2])
  queue.fulfillRequest({ correlationId: 2, size: 0, payload: null })
  queue.maybeThrottle(20)
  await new Promise<void>((resolve) => queue.push(request(3, resolve)))
  queue.destroy()
})

test.serial(
  'a broker that asks to wait is asked again, also if the clock was days fast meanwhile',
  async (t) => {
    const queue = openQueue()
    const { now } = Date
    t.teardown(() => {
      Date.now = now
      queue.destroy()
    })
    Date.now = () => now() + 240 * 3_600_000
    queue.maybeThrottle(20)
    Date.now = now
    await t.notThrowsAsync(new Promise<void>((resolve) => queue.push(request(1, resolve))))
  },
)

function request(correlationId: number, sendRequest: () => void) {
  const entry = { correlationId, resolve() {}, reject() {} }
  return { entry, expectResponse: true, sendRequest }
}
