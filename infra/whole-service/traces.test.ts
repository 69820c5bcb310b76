import test from 'ava'
import { type ReceivedSpan, startOtlpReceiver } from '../../pipeline/testing/otlp-receiver.ts'
import { deploy } from './deployment.ts'

/*
 * Traces of slots and of requests, as a collector receives them (rule K22).
 */

test('a slot with a trade is one trace from its seal to the socket, a slot without one has the same spans, a request is a trace of its own, and none holds a key, an address, a signature or what was asked for', async (t) => {
  t.timeout(240_000)
  const receiver = await startOtlpReceiver()
  t.teardown(() => receiver.close())
  const service = await deploy('embedded', [], {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
  })
  t.teardown(() => service.remove())
  const process = service.start('all')
  const customer = await service.customer(await process.line('api_key'))
  const feed = await customer.follow()
  await receiver.until((spans) => spans.some(({ name }) => name === 'send'))
  await feed.received(20)
  const [trade] = feed.trades
  const page = await customer.get('/trades?limit=7')
  await customer.get(`/tokens/${trade?.mint}/swaps?limit=3`)
  await customer.get('/trades?limit=none')
  await customer.get(`/nothing/${trade?.mint}`)
  const sql = async <Row>(query: string) =>
    ((await service.operator('sql', query)).document as { items: Row[] }).items // rule J3
  const swaps = await sql<{ slot: string; signature: string }>(
    'SELECT toString(slot) AS slot, signature FROM swaps ORDER BY swaps.slot',
  )
  const { document: tracked } = await service.operator('wallets')
  const { items: wallets } = tracked as { items: { address: string }[] } // rule J3
  feed.close()
  t.is(await process.stop(), 0)

  const traces = slotTraces(receiver.spans)
  const traded = new Set(swaps.map(({ slot }) => Number(slot)))
  // Each kind of span comes in the order of the slots, so those up to here have all of theirs.
  const end = Math.min(...['append', 'store', 'send'].map((name) => newest(receiver.spans, name)))
  const isSealed = (spans: readonly ReceivedSpan[]) => spans.some(({ name }) => name === 'seal')
  const inner = [...traces].filter(([slot, spans]) => slot <= end && isSealed(spans))
  t.true(inner.some(([slot]) => traded.has(slot)))
  t.true(inner.some(([slot]) => !traded.has(slot)))
  for (const [slot, spans] of inner) t.deepEqual(treeOf(spans), WHOLE, `slot ${slot}`)

  const requests = receiver.spans.filter(({ kind }) => kind === SERVER)
  const described = requests.map(({ name, parentSpanId, attributes }) => {
    const { 'tracked_wallets.request_id': id, ...others } = attributes
    return { name, parentSpanId, id, ...others }
  })
  const request = (name: string) => described.filter((one) => one.name === name)
  const [listed, refused] = request('GET /trades')
  t.deepEqual(
    [listed, refused],
    [
      {
        name: 'GET /trades',
        parentSpanId: undefined,
        id: page.headers.get('x-request-id'),
        'http.request.method': 'GET',
        'http.route': '/trades',
        'http.response.status_code': 200,
        'tracked_wallets.credits_charged': 3,
      },
      {
        ...listed,
        id: refused?.id,
        'http.response.status_code': 400,
        'tracked_wallets.credits_charged': 0,
      },
    ],
  )
  t.deepEqual(
    requests.map(({ name, attributes }) => `${name} ${attributes['http.response.status_code']}`),
    ['GET /ws 101', 'GET /trades 200', 'GET /tokens/:mint/swaps 200', 'GET /trades 400', 'GET 404'],
  )

  const key = process.lines.get('api_key') ?? ''
  const secrets = [key, String(trade?.mint), 'limit', ...wallets.map(({ address }) => address)]
  const sent = receiver.bodies.join('\n')
  t.deepEqual(
    [...secrets, ...swaps.map(({ signature }) => signature)].filter((text) => sent.includes(text)),
    [],
  )
})

const SERVER = 2

const WHOLE = [
  ' > seal',
  'append > fold',
  'append > relay',
  'append > send',
  'append > store',
  'seal > append',
  'seal > decode',
]

/** The spans of each slot; fails if a slot has two traces. */
function slotTraces(spans: readonly ReceivedSpan[]): Map<number, ReceivedSpan[]> {
  const slots = new Map<number, ReceivedSpan[]>()
  for (const span of spans) {
    if (span.attributes.slot === undefined) continue
    const slot = slotOf(span)
    const others = slots.get(slot) ?? []
    if (others.some(({ traceId }) => traceId !== span.traceId))
      throw new Error(`slot ${slot} has two traces`)
    slots.set(slot, [...others, span])
  }
  return slots
}

/** The newest slot with a span of this name. */
function newest(spans: readonly ReceivedSpan[], name: string): number {
  return Math.max(...spans.filter((span) => span.name === name).map(slotOf))
}

function slotOf({ attributes }: ReceivedSpan): number {
  return Number(attributes.slot)
}

/** Each span of a trace with its parent, sorted. */
function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans
    .map(({ parentSpanId, name }) => `${names.get(parentSpanId ?? '') ?? ''} > ${name}`)
    .sort()
}
