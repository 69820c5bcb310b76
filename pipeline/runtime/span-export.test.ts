import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import test from 'ava'
import { startOtlpReceiver } from '../testing/otlp-receiver.ts'
import { createLogger } from './logger.ts'
import type { Span } from './span.ts'
import { openSpanExport } from './span-export.ts'

const span = (name: string): Span => ({
  name,
  kind: 'producer',
  traceId: '0123456789abcdef0123456789abcdef',
  spanId: '0123456789abcdef',
  parentId: 'fedcba9876543210',
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001.5,
  attributes: { slot: 7, part: 'a' },
  failed: true,
})

function openTo(endpoint: string) {
  const lines: Record<string, unknown>[] = []
  const logged = new EventEmitter()
  const logger = createLogger('info', {
    write(line) {
      lines.push(JSON.parse(line))
      logged.emit('line')
    },
  })
  const spans = openSpanExport(new URL(endpoint), { logger, roles: 'ingest' })
  return { lines, spans, nextLine: () => once(logged, 'line') }
}

test('a span reaches the collector whole, with its process', async (t) => {
  const receiver = await startOtlpReceiver()
  t.teardown(() => receiver.close())
  const { spans, lines } = openTo(`${receiver.endpoint}/`)
  spans.add(span('append'))
  await spans.close()
  const [{ resourceSpans = [] } = {}] = receiver.bodies.map((body) => JSON.parse(body))
  const [{ resource, scopeSpans }] = resourceSpans
  t.deepEqual(
    resource.attributes.map(({ key }: { key: string }) => key),
    ['service.name', 'service.version', 'service.instance.id', 'tracked_wallets.roles'],
  )
  t.deepEqual(scopeSpans[0].spans, [
    {
      traceId: '0123456789abcdef0123456789abcdef',
      spanId: '0123456789abcdef',
      parentSpanId: 'fedcba9876543210',
      name: 'append',
      kind: 4,
      startTimeUnixNano: '1700000000000250000',
      endTimeUnixNano: '1700000000001500000',
      attributes: [
        { key: 'slot', value: { intValue: 7 } },
        { key: 'part', value: { stringValue: 'a' } },
      ],
      droppedAttributesCount: 0,
      events: [],
      droppedEventsCount: 0,
      status: { code: 2 },
      links: [],
      droppedLinksCount: 0,
      flags: 257,
    },
  ])
  t.deepEqual(lines, [])
})

test('while the collector is away spans are dropped, and the log says once that it is lost and once that it is back', async (t) => {
  const first = await startOtlpReceiver()
  const { port } = new URL(first.endpoint)
  await first.close()
  const { spans, lines, nextLine } = openTo(first.endpoint)
  t.teardown(() => spans.close())
  for (let n = 0; n < 10_000; n += 1) spans.add(span('lost'))
  await nextLine()
  const receiver = await startOtlpReceiver(Number(port))
  t.teardown(() => receiver.close())
  spans.add(span('kept'))
  const isBack = nextLine()
  await receiver.until((received) => received.some(({ name }) => name === 'kept'))
  await isBack
  t.deepEqual(
    lines.map(({ msg, reason }) => ({ msg, reason })),
    [
      {
        msg: 'the collector of traces takes no spans; they are dropped',
        reason: 'ECONNREFUSED',
      },
      { msg: 'the collector of traces takes spans again', reason: undefined },
    ],
  )
  const { length: late } = receiver.spans.filter(({ name }) => name === 'lost')
  t.true(late <= 2048, `${late} of 10000 spans had waited`)
})

test('a collector that takes connections and never answers does not hold up the end', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const address = silent.address()
  const { spans } = openTo(`http://127.0.0.1:${typeof address === 'object' && address?.port}`)
  for (let n = 0; n < 3000; n += 1) spans.add(span('lost'))
  const started = performance.now()
  await spans.close()
  t.true(performance.now() - started < 5000)
})
