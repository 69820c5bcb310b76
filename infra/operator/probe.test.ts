import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'ava'
import type { TradeItem } from '../../api/items/trade.ts'
import { EXAMPLE_TRADE } from '../../api/items/trade.ts'
import { aSwap } from '../../api/testing/a-swap.ts'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { startApi } from '../../api/testing/start-api.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { createProbeComparison } from './probe-comparison.ts'
import { type ProbeSummary, runProbe } from './probe-run.ts'
import { createProbeMetrics } from './telemetry.ts'

const trade = (block_time: number, wallet = 'W1'): TradeItem => ({
  ...EXAMPLE_TRADE,
  block_time,
  wallet,
})

test('feed and REST agree when each second has the same trades, however they are ordered', (t) => {
  const comparison = createProbeComparison()
  for (const one of [trade(10), trade(10), trade(11), trade(11, 'W2'), trade(12, 'W9')])
    comparison.note(one)
  comparison.retract(trade(12, 'W9'))
  const rest = [trade(12), trade(11, 'W2'), trade(11), trade(10), trade(10), trade(9)]
  t.deepEqual(comparison.compare(rest, 9, 11), { compared: 4, differing: 0 })
  t.deepEqual(comparison.compare(rest, 9, 11), { compared: 4, differing: 0 })
})

test('a second that differs twice is a difference, one that heals is none', (t) => {
  const comparison = createProbeComparison()
  comparison.note(trade(10))
  const missing = [trade(10), trade(10), trade(11)]
  t.deepEqual(comparison.compare(missing, 9, 11), { compared: 3, differing: 0 })
  comparison.note(trade(11)) // late
  t.deepEqual(comparison.compare(missing, 9, 11), { compared: 3, differing: 1 })
  t.deepEqual(comparison.compare([trade(11)], 10, 11), { compared: 1, differing: 0 })
})

/** Starts a probe on an API, and stops it once `until` holds of its summary. */
async function probeOf(
  options: { readonly url: string; readonly apiKey: string; readonly maxLagSeconds: number },
  onConnected: () => Promise<void>,
  until: (summary: ProbeSummary) => boolean,
) {
  const registry = createRegistry()
  const stopping = new AbortController()
  let isBegun = false
  const summary = await runProbe({
    ...options,
    wallets: null,
    metrics: createProbeMetrics(registry),
    stop: stopping.signal,
    everyMs: 20,
    onProgress(found) {
      if (found.connections > 0 && !isBegun) {
        isBegun = true
        onConnected()
      }
      if (until(found)) stopping.abort()
    },
  })
  return { summary, metrics: await registry.metrics() }
}

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

test('the probe counts and measures trades of the feed, and says which are too late', async (t) => {
  const api = await startApi(opened.store)
  const { key: apiKey } = await api.customer(100_000)
  const append = async (slot: number, age: number) => {
    const blockTime = Math.floor(Date.now() / 1000) - age
    await api.log.appendSlot({ marker: aMarker(slot), records: [aSwap({ slot, blockTime })] })
  }
  const good = await probeOf(
    { url: api.url, apiKey, maxLagSeconds: 30 },
    () => append(1, 1),
    ({ trades }) => trades === 1,
  )
  t.like(good.summary, { trades: 1, late: 0, retracted: 0, connections: 1, faults: {} })
  t.true((good.summary.lag_p50 ?? 0) >= 1)
  t.regex(good.metrics, /^probe_up 1$/m)
  t.regex(good.metrics, /^probe_trades_total 1$/m)
  const slow = await probeOf(
    { url: api.url, apiKey, maxLagSeconds: 30 },
    () => append(2, 60),
    ({ faults }) => faults.lag === 1,
  )
  t.deepEqual(slow.summary.faults, { lag: 1 })
  t.regex(slow.metrics, /^probe_up 0$/m)
  await api.close()
})

test('a feed without the trades of REST is a fault, and so is a service that is gone', async (t) => {
  let hasTrades = false
  /** A trade in each second of the last minute, so that any two comparisons see the same ones. */
  const items = () => {
    const now = Math.floor(Date.now() / 1000)
    return hasTrades ? Array.from({ length: 60 }, (_, age) => trade(now - age)) : []
  }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.statusCode = request.url === '/ws' ? 503 : 200
    const page = { items: items(), next_cursor: null, has_more: false }
    const isStatus = request.url?.startsWith('/status')
    response.end(JSON.stringify(isStatus ? { lag_seconds: 1 } : page))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const stopping = new AbortController()
  const summary = await runProbe({
    url: `http://127.0.0.1:${port}`,
    apiKey: 'none',
    wallets: null,
    maxLagSeconds: 30,
    metrics: createProbeMetrics(createRegistry()),
    stop: stopping.signal,
    everyMs: 1000,
    settleSeconds: 0,
    reconnectMs: 0,
    onProgress({ faults }) {
      hasTrades = true
      if ((faults.differs ?? 0) > 0) stopping.abort()
    },
  })
  t.true((summary.faults.unreachable ?? 0) > 0) // it has no feed
  t.is(summary.faults.differs, 1)
  server.close()
})

test('a key that is refused ends the probe', async (t) => {
  const api = await startApi(opened.store)
  const ended = probeOf(
    { url: api.url, apiKey: 'tw_no', maxLagSeconds: 30 },
    async () => {},
    () => false,
  )
  t.like(await t.throwsAsync(ended), { status: 401, code: 'unauthorized' })
  await api.close()
})
