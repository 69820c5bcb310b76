import anyTest, { type ExecutionContext } from 'ava'
import { type ReceivedSpan, startOtlpReceiver } from '../../pipeline/testing/otlp-receiver.ts'
import { type CustomerAnswer, until } from './customer.ts'
import { type Deployment, deploy, WHY_NO_SERVERS } from './deployment.ts'

/*
 * Traces of slots and of requests, as a collector receives them (rule K22).
 */

const TITLE =
  'a slot with a trade is one trace from its seal to the socket, a slot without one has the same spans, a request is a trace of its own, and none holds a key, an address, a signature or what was asked for'

anyTest.serial(`one process: ${TITLE}`, (t) => run(t, 'embedded'))
if (WHY_NO_SERVERS) {
  anyTest.serial.skip(`a process per role: ${TITLE} (skipped: ${WHY_NO_SERVERS})`, () => {})
} else anyTest.serial(`a process per role: ${TITLE}`, (t) => run(t, 'servers'))

async function run(t: ExecutionContext, kind: Deployment['kind']): Promise<void> {
  const receiver = await startOtlpReceiver()
  t.teardown(() => receiver.close())
  const service = await deploy(kind, [], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint })
  t.teardown(() => service.remove())
  service.startAll()
  const api = service.processes.get('api') ?? service.processes.get('all')
  const url = await api?.line('url')
  await until(
    () => fetch(`${url}/readyz`),
    ({ ok }) => ok,
  )
  const key = await service.createAccount(1_000_000)
  const customer = await service.customer(key)
  const feed = await customer.follow()
  await receiver.until((spans) => spans.some(({ name }) => name === 'send'))
  await feed.received(20)
  const mint = String(feed.trades[0]?.mint)
  const answers: CustomerAnswer[] = []
  for (const path of [
    ...['/trades?limit=7', `/tokens/${mint}/swaps?limit=3`, '/trades?limit=none'],
    `/nothing/${mint}`,
  ])
    answers.push(await customer.get(path))
  const sql = async <Row>(query: string) =>
    ((await service.operator('sql', query)).document as { items: Row[] }).items // rule J3
  const swaps = await sql<{ slot: string; signature: string }>(
    'SELECT toString(slot) AS slot, signature FROM swaps',
  )
  const { document: tracked } = await service.operator('wallets')
  const { items: wallets } = tracked as { items: { address: string }[] } // rule J3
  feed.close()
  for (const process of service.processes.values()) t.is(await process.stop(), 0)

  const traded = new Set(swaps.map(({ slot }) => Number(slot)))
  const whole = wholeTraces(receiver.spans)
  t.true(whole.some(([slot]) => traded.has(slot)))
  t.true(whole.some(([slot]) => !traded.has(slot)))
  for (const [slot, spans] of whole) {
    t.is(new Set(spans.map(({ traceId }) => traceId)).size, 1)
    t.deepEqual(treeOf(spans), TREE, `slot ${slot}`)
  }

  checkRequests(t, receiver.spans, answers)
  const secrets = [key, mint, 'limit', ...wallets.map(({ address }) => address)]
  const sent = receiver.bodies.join('\n')
  t.deepEqual(
    [...secrets, ...swaps.map(({ signature }) => signature)].filter((text) => sent.includes(text)),
    [],
  )
}

/** Checks the traces of the four requests that `run` makes, and that of the WebSocket handshake. */
function checkRequests(
  t: ExecutionContext,
  spans: readonly ReceivedSpan[],
  answers: readonly CustomerAnswer[],
): void {
  const requests = spans.filter(({ kind }) => kind === SERVER)
  const request = (name: string, route: string | undefined, status: number, credits: number) => ({
    name,
    parentSpanId: undefined,
    attributes: {
      'http.request.method': 'GET',
      ...(route && { 'http.route': route }),
      'http.response.status_code': status,
      'tracked_wallets.credits_charged': credits,
    },
  })
  t.deepEqual(
    answers.map(({ headers }) => {
      const id = headers.get('x-request-id')
      const found = requests.filter(({ attributes }) => attributes[REQUEST_ID] === id)
      return found.map(
        ({ name, parentSpanId, attributes: { [REQUEST_ID]: _, ...attributes } }) => ({
          name,
          parentSpanId,
          attributes,
        }),
      )
    }),
    [
      [request('GET /trades', '/trades', 200, 3)],
      [request('GET /tokens/:mint/swaps', '/tokens/:mint/swaps', 200, 3)],
      [request('GET /trades', '/trades', 400, 0)],
      [request('GET', undefined, 404, 0)],
    ],
  )
  t.true(
    requests.some(
      ({ name, attributes }) =>
        name === 'GET /ws' && attributes['http.response.status_code'] === 101,
    ),
  )
}

const REQUEST_ID = 'tracked_wallets.request_id'

const SERVER = 2

const STEPS = ['seal', 'decode', 'append', 'fold', 'store', 'relay', 'send']

/** The trace of a slot, sorted. */
const TREE = [
  ' > seal',
  'append > fold',
  'append > relay',
  'append > send',
  'append > store',
  'seal > append',
  'seal > decode',
]

/**
 * The spans of each slot that every process saw from its beginning to its end. Spans of one name
 * come in the order of the slots, so these lie between the newest first and the oldest last one.
 */
function wholeTraces(all: readonly ReceivedSpan[]): [slot: number, ReceivedSpan[]][] {
  const slots = STEPS.map((step) => all.filter(({ name }) => name === step).map(slotOf))
  const begin = Math.max(...slots.map((of) => Math.min(...of)))
  const end = Math.min(...slots.map((of) => Math.max(...of)))
  const traces = new Map<number, ReceivedSpan[]>()
  for (const span of all.filter(({ name }) => STEPS.includes(name)))
    traces.set(slotOf(span), [...(traces.get(slotOf(span)) ?? []), span])
  return [...traces].filter(([slot]) => slot >= begin && slot <= end)
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
