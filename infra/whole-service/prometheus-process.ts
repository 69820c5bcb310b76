import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { until } from './customer.ts'
import { ROOT } from './service-process.ts'

const PROMETHEUS = '/usr/bin/prometheus'

/** Why a real Prometheus cannot run; empty when it can. */
export const WHY_NO_PROMETHEUS = existsSync(PROMETHEUS) ? '' : 'prometheus is not installed'

const Alerts = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        state: z.enum(['pending', 'firing']),
        labels: z.looseObject({
          alertname: z.string(),
          severity: z.enum(['page', 'ticket']),
          layer: z.enum(['cause', 'symptom']),
        }),
      }),
    ),
  }),
})
const Samples = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
})

/** An alert that is firing. */
export type FiringAlert = z.infer<typeof Alerts>['data']['alerts'][number]['labels']

/** A running Prometheus with the rules of the project. */
export interface PrometheusProcess {
  /** The samples of an instant query: labels and value. */
  query(expr: string): Promise<readonly { labels: Record<string, string>; value: number }[]>
  firing(): Promise<readonly FiringAlert[]>
  stop(): Promise<void>
}

/**
 * Starts Prometheus on loopback with infra/prometheus/prometheus.yml, but for its targets:
 * `targets` has the metrics port of each role, `probe` is that of the probe, if it runs. Its data
 * goes to `folder`.
 */
export async function startPrometheus(
  folder: string,
  port: number,
  targets: Readonly<Record<string, number>>,
  probe?: number,
): Promise<PrometheusProcess> {
  const shipped = parse(readFileSync(join(ROOT, 'infra/prometheus/prometheus.yml'), 'utf8'))
  const file = join(folder, 'prometheus.json')
  const config = {
    global: shipped.global,
    rule_files: [join(ROOT, 'infra/prometheus/alerts.yml')],
    scrape_configs: [
      {
        job_name: 'tracked-wallets',
        static_configs: Object.entries(targets).map(([role, metricsPort]) => ({
          targets: [`127.0.0.1:${metricsPort}`],
          labels: { role },
        })),
      },
      {
        job_name: 'tracked-wallets-probe',
        static_configs: [{ targets: probe === undefined ? [] : [`127.0.0.1:${probe}`] }],
      },
    ],
  }
  writeFileSync(file, JSON.stringify(config)) // JSON is YAML
  const url = `http://127.0.0.1:${port}`
  const args = ['--config.file', file, '--storage.tsdb.path', join(folder, 'prometheus')]
  const listen = ['--web.listen-address', `127.0.0.1:${port}`, '--log.level', 'warn']
  const child: ChildProcess = spawn(PROMETHEUS, [...args, ...listen], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const ask = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json()
  await until(
    () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (isReady) => isReady || child.exitCode !== null,
    60_000,
  )
  return {
    async query(expr) {
      const answer = await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)
      return Samples.parse(answer).data.result.map(({ metric, value }) => ({
        labels: metric,
        value: Number(value[1]),
      }))
    },
    async firing() {
      const { data } = Alerts.parse(await ask('/api/v1/alerts'))
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels)
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
