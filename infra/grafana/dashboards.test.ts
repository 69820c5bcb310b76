import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { newWallet, post, tokenOf } from '../../api/testing/a-wallet.ts'
import { ask } from '../../api/testing/ask.ts'
import { until } from '../whole-service/customer.ts'
import { deploy } from '../whole-service/deployment.ts'
import { freePort } from '../whole-service/free-port.ts'
import { startPrometheus, WHY_NO_PROMETHEUS } from '../whole-service/prometheus-process.ts'
import { ROOT } from '../whole-service/service-process.ts'
import { DASHBOARDS, grafanaOf } from './dashboards.ts'

const FOLDER = join(ROOT, 'infra/grafana/dashboards')

test('the files that Grafana loads are those that `npm run docs` writes', (t) => {
  const files = readdirSync(FOLDER).sort()
  t.deepEqual(
    Object.fromEntries(
      files.map((file) => [file, JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))]),
    ),
    Object.fromEntries(DASHBOARDS.map((one) => [`${one.name}.json`, grafanaOf(one)])),
  )
})

test('compose gives Grafana the dashboards and Prometheus, and publishes it on loopback alone', (t) => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  t.regex(compose, /\.\/infra\/grafana\/dashboards:\/etc\/tracked-wallets\/dashboards:ro/)
  t.regex(compose, /\.\/infra\/grafana\/provisioning:\/etc\/grafana\/provisioning:ro/)
  t.regex(compose, /"127\.0\.0\.1:\$\{GRAFANA_PORT:-3000\}:3000"/)
  const provisioning = join(ROOT, 'infra/grafana/provisioning')
  t.regex(
    readFileSync(join(provisioning, 'datasources/prometheus.yml'), 'utf8'),
    /uid: prometheus\n/,
  )
  t.regex(
    readFileSync(join(provisioning, 'dashboards/files.yml'), 'utf8'),
    /path: \/etc\/tracked-wallets\/dashboards\n/,
  )
})

const run = WHY_NO_PROMETHEUS === '' ? test : test.skip
const why = WHY_NO_PROMETHEUS === '' ? '' : `: ${WHY_NO_PROMETHEUS}`

/** `... or vector(0)` shows 0 for what has not happened yet; this metric must exist without it. */
const withoutZero = (expr: string) => expr.replaceAll(' or vector(0)', '')
/** Prometheus has none without an alert. */
const NOT_YET = ['ALERTS']

run(`every panel has data on a running service (embedded)${why}`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboards-'))
  const metricsPort = await freePort()
  const deployment = await deploy('embedded', [], {
    METRICS_PORT: String(metricsPort),
    WEBHOOK_LOOPBACK: 'true',
    FIRST_CREDITS: '1000',
  })
  const service = deployment.start('all')
  const prometheus = await startPrometheus(folder, await freePort(), { all: metricsPort })
  t.teardown(async () => {
    await prometheus.stop()
    await deployment.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const customer = await deployment.customer(await service.line('api_key'))
  const feed = await until(
    () => customer.follow().catch(() => null), // refused until the account is loaded
    (opened) => opened !== null,
  )
  const api = { url: await service.line('url') }
  const token = await tokenOf(api, newWallet())
  const nobody = `http://127.0.0.1:${await freePort()}/`
  await ask(api, '/me/api', token) // the account gets its credits
  const { status, body: hook } = await post(api, '/me/webhooks', { url: nobody }, token)
  t.is(status, 201)
  const panels = DASHBOARDS.flatMap(({ panels }) => panels)
  const empty = async () => {
    await customer.get('/wallets')
    await post(api, `/me/webhooks/${hook.id}/test`, {}, token)
    const results = await Promise.all(
      panels.map(async ({ title, expr }) => {
        const isExpected = !NOT_YET.some((metric) => expr.includes(metric)) && !/status=/.test(expr)
        const samples = await prometheus.query(isExpected ? withoutZero(expr) : expr)
        return samples.some(({ value }) => !Number.isNaN(value)) ? [] : [title]
      }),
    )
    return results.flat()
  }
  const left = await until(empty, (titles) => titles.length === 0, 150_000).catch(empty)
  t.deepEqual(left, [])
  feed?.close()
})

test('every metric of a panel is one of the service', (t) => {
  const declared = ['pipeline', 'api']
    .flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('telemetry.ts'))
        .map((file) => readFileSync(join(ROOT, top, file), 'utf8')),
    )
    .join('\n')
  const unknown = DASHBOARDS.flatMap(({ panels }) => panels).flatMap(({ title, expr }) =>
    [...expr.matchAll(/\b[a-z]+(?:_[a-z]+)+\b(?!\()/g)]
      .map(([name]) => name.replace(/_(?:count|bucket)$/, ''))
      .filter((name) => !/^(?:process|nodejs|histogram)_/.test(name))
      .filter((name) => !declared.includes(`'${name}'`))
      .map((name) => `${title}: ${name}`),
  )
  t.deepEqual(unknown, [])
})
