import test from 'ava'
import { Gauge } from 'prom-client'
import { ServiceError } from '../domain/service-error.ts'
import { startHealthServer } from './health-server.ts'
import { createReadiness } from './readiness.ts'
import { createRegistry, metricsOf } from './telemetry.ts'

test('the health server shows metrics, liveness, and why a process is not ready (rule D7)', async (t) => {
  const registry = createRegistry()
  metricsOf(registry).counter('events_total', 'Events.').inc(3)
  let storeIsUp = false
  const readiness = createReadiness(0)
  readiness.add({
    log: async () => {},
    ingest: async () => 'standby' as const,
    store: async () => {
      if (!storeIsUp) throw new ServiceError('unavailable', 'ClickHouse does not answer')
    },
  })
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    registry,
    readiness,
  })
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method })
    return { status: response.status, body: await response.text() }
  }
  t.deepEqual(await get('/metrics'), {
    status: 200,
    body: '# HELP events_total Events.\n# TYPE events_total counter\nevents_total 3\n',
  })
  t.deepEqual(await get('/healthz'), { status: 200, body: '{"status":"ok"}' })
  t.deepEqual(await get('/readyz'), {
    status: 503,
    body: '{"ready":false,"checks":{"log":"ok","ingest":"standby","store":"ClickHouse does not answer"}}',
  })
  storeIsUp = true
  t.deepEqual(await get('/readyz'), {
    status: 200,
    body: '{"ready":true,"checks":{"log":"ok","ingest":"standby","store":"ok"}}',
  })
  t.is((await get('/metrics', 'POST')).status, 405)
  t.is((await get('/secret')).status, 404)
  const taken = await t.throwsAsync(
    startHealthServer({ host: '127.0.0.1', port: server.port, registry, readiness }),
    { instanceOf: ServiceError },
  )
  t.is(
    taken?.message,
    `METRICS_PORT: port ${server.port} is taken by another process; set another, or 0`,
  )
  await server.close()
})

test('requests for metrics share one rendering for a while', async (t) => {
  const registry = createRegistry()
  let renderings = 0
  new Gauge({
    name: 'renderings',
    help: 'How often metrics were collected.',
    registers: [registry],
    collect() {
      this.set(++renderings)
    },
  })
  const readiness = createReadiness()
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    registry,
    readiness,
    metricsSharedMs: 60_000,
  })
  const ask = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  t.deepEqual([...new Set(answers)].length, 1)
  t.is(renderings, 1)
  await server.close()
})

test('readiness probes within a second share one check of each condition', async (t) => {
  let checks = 0
  const readiness = createReadiness()
  readiness.add({
    store: async () => {
      checks += 1
      throw new ServiceError('unavailable', 'away')
    },
  })
  const started = performance.now()
  const reports = await Promise.all(Array.from({ length: 300 }, () => readiness.read()))
  reports.push(await readiness.read())
  t.true(checks <= 1 + (performance.now() - started) / 1000)
  t.deepEqual(reports[300], { ready: false, checks: { store: 'away' } })
})
