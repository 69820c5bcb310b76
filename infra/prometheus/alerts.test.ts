import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'

/** The root of the project, three folders above the compiled test. */
const ROOT = join(import.meta.dirname, '../../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const rules = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.strictObject({
            alert: z.string(),
            expr: z.string(),
            for: z
              .string()
              .regex(/^[0-9]+[mh]$/)
              .default('0m'),
            labels: z.strictObject({
              severity: z.enum(['page', 'ticket']),
              layer: z.enum(['cause', 'symptom']),
            }),
            annotations: z.strictObject({ summary: z.string(), runbook_url: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('infra/prometheus/alerts.yml')))
  .groups.flatMap((group) => group.rules)

test('every alert is about metrics that the service has', (t) => {
  const declared = ['pipeline', 'api', 'infra/operator']
    .flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('telemetry.ts'))
        .map((file) => read(join(top, file))),
    )
    .join('\n')
  for (const { alert, expr } of rules) {
    // Of prom-client and of node_exporter, or functions and histograms' parts.
    const named = [...expr.matchAll(/\b[a-z]+(?:_[a-z]+)+\b(?! ?\()/g)]
      .map(([name]) => name.replace(/_count$/, ''))
      .filter((name) => !/^(process|node)_/.test(name))
    for (const name of named) t.true(declared.includes(`'${name}'`), `${alert}: ${name}`)
  }
})

test('Prometheus loads the alerts and tells Alertmanager', (t) => {
  const prometheus = read('infra/prometheus/prometheus.yml')
  t.regex(prometheus, /^rule_files: \[alerts\.yml\]$/m)
  t.regex(prometheus, /targets: \["alertmanager:9093"\]/)
  const compose = read('docker-compose.yml')
  for (const file of ['alerts', 'prometheus', 'alertmanager'])
    t.regex(compose, new RegExp(`infra/prometheus/${file}\\.yml:/etc/[a-z]+/${file}\\.yml:ro`))
})

test('while the page of a cause fires, Alertmanager sends no symptom', (t) => {
  const { inhibit_rules } = parse(read('infra/prometheus/alertmanager.yml')) as {
    inhibit_rules: unknown
  }
  t.deepEqual(inhibit_rules, [
    {
      source_matchers: ['severity="page"', 'layer="cause"'],
      target_matchers: ['layer="symptom"'],
    },
  ])
})

test('each alert has a section of the runbooks, to which it links, with the same four parts', (t) => {
  const sections = read('docs/runbooks.md').split(/^## /m).slice(1)
  const byName = new Map(sections.map((text) => [text.split('\n')[0] ?? '', text]))
  t.deepEqual([...byName.keys()].sort(), rules.map(({ alert }) => alert).sort())
  for (const { alert, annotations } of rules) {
    t.is(annotations.runbook_url, `docs/runbooks.md#${alert.toLowerCase()}`)
    const text = byName.get(alert) ?? ''
    const parts = [...text.matchAll(/^\*\*([^*]+)\.\*\*/gm)].map(([, part]) => part)
    t.deepEqual(parts, ['Symptom', 'Customers see', 'First', 'Over when'], alert)
    const [, commands = ''] = /```sh\n([^`]*)```/.exec(text) ?? []
    t.is(commands.trim().split('\n').length, 3, `${alert}: three commands`)
  }
})

/** Minutes of a healthy service before the fault, and after it. A sample comes each 15 s. */
const HEALTHY = 20
const FAULTY = 70

/** Series of a service without a fault, each with its samples as promtool writes them. */
const HEALTH = {
  'up{job="tracked-wallets",role="ingest",instance="ingest"}': '1x400',
  'up{job="tracked-wallets",role="workers",instance="workers"}': '1x400',
  'up{job="tracked-wallets",role="api",instance="api"}': '1x400',
  'up{job="tracked-wallets",role="webhooks",instance="webhooks"}': '1x400',
  'up{job="tracked-wallets-probe",instance="probe"}': '1x400',
  'process_start_time_seconds{job="tracked-wallets",role="workers",instance="workers"}': '5x400',
  'ready_check_up{check="store",role="workers",instance="workers"}': '1x400',
  'ready_check_up{check="store",role="api",instance="api"}': '1x400',
  'store_writes_failing_seconds{role="workers",instance="workers"}': '0x400',
  'store_writes_failing_seconds{role="api",instance="api"}': '0x400',
  'ready_check_up{check="log",role="api",instance="api"}': '1x400',
  'ready_check_up{check="meter",role="api",instance="api"}': '1x400',
  'ready_check_up{check="format",role="workers",instance="workers"}': '1x400',
  'ready_check_up{check="stages",role="workers",instance="workers"}': '1x400',
  'ingest_updates_total{kind="slot",instance="ingest"}': '0+38x400',
  'ingest_updates_total{kind="slot",instance="standby"}': '0+38x400',
  'ingest_slot{instance="ingest"}': '1000+38x400',
  'ingest_slot{instance="standby"}': '0x400',
  'ingest_is_leader{instance="ingest"}': '1x400',
  'ingest_is_leader{instance="standby"}': '0x400',
  'ingest_refused_total{what="block"}': '0x400',
  'fold_slot{instance="workers"}': '1000+38x400',
  'fold_records_total{kind="swap",instance="workers"}': '0+7x400',
  'fold_holes_total{lost="slots",instance="workers"}': '0x400',
  'stage_block_time_seconds{stage="feed",instance="api"}': '0+15x400',
  'stage_block_time_seconds{stage="storage",instance="api"}': '0+15x400',
  'credits_rolled_up_time_seconds{instance="api"}': '0+15x400',
  'webhooks_checked_time_seconds{instance="webhooks"}': '0+15x400',
  'webhooks_checked_time_seconds{instance="webhooks-2"}': '0+15x400',
  'api_request_seconds_count{resource="/trades",status="200",instance="api"}': '0+900x400',
  'api_request_seconds_count{resource="/trades",status="503",instance="api"}': '0+3x400',
  'api_requests_shed_total{instance="api"}': '0+3x400',
  probe_up: '1x400',
  chain_break_oldest_seconds: '0x400',
  'chain_breaks{state="unexplained"}': '0x400',
  'backfill_open_jobs{reason="gap"}': '0x400',
  'node_filesystem_avail_bytes{fstype="ext4",mountpoint="/data"}': '500x400',
  'node_filesystem_size_bytes{fstype="ext4",mountpoint="/data"}': '1000x400',
}

/** Samples of `before` while healthy, and of `after` from the fault on. */
const turns = (before: string, after: string) =>
  `${before}x${HEALTHY * 4 - 1} ${after}x${FAULTY * 4}`

const STORE = 'ready_check_up{check="store",role="workers",instance="workers"}'
const STORE_OF_API = 'ready_check_up{check="store",role="api",instance="api"}'
const SLOTS = 'ingest_updates_total{kind="slot",instance="ingest"}'
const SLOTS_OF_STANDBY = 'ingest_updates_total{kind="slot",instance="standby"}'
const FAILED = 'api_request_seconds_count{resource="/trades",status="503",instance="api"}'
/** The time of the fault, in seconds and in samples. */
const FAULT = { seconds: HEALTHY * 60, samples: HEALTHY * 4 }
const stands = turns('0+38', `${38 * FAULT.samples}`)
const WORKERS = 'up{job="tracked-wallets",role="workers",instance="workers"}'
/** A process that starts again each minute. */
const restarts = `${turns('5', '5').split(' ')[0]} ${Array.from({ length: 80 }, (_, at) => FAULT.seconds + 60 * Math.floor(at / 4)).join(' ')}`

/**
 * A fault of each alert: the samples that change, and how long after `for` the alert fires, in
 * minutes; default 1. Then this alert fires and no other, but for `also`.
 */
const FAULTS: Readonly<
  Record<
    string,
    {
      readonly series: Partial<Record<keyof typeof HEALTH, string>>
      readonly delay?: number
      readonly also?: readonly string[]
    }
  >
> = {
  RoleDown: { series: { [WORKERS]: turns('1', '0') } },
  StoreUnreachable: { series: { [STORE]: turns('1', '0'), [STORE_OF_API]: turns('1', '0') } },
  StoreWritesFail: {
    series: {
      'store_writes_failing_seconds{role="workers",instance="workers"}': turns('0', '0+15'),
    },
    delay: 1.25,
  },
  LogUnreachable: {
    series: {
      'ready_check_up{check="log",role="api",instance="api"}': turns('1', '0'),
      [SLOTS]: stands,
      [SLOTS_OF_STANDBY]: stands,
    },
  },
  MeterUnreachable: {
    series: { 'ready_check_up{check="meter",role="api",instance="api"}': turns('1', '0') },
  },
  StreamSilent: { series: { [SLOTS]: stands, [SLOTS_OF_STANDBY]: stands } },
  ProcessDown: { series: { [WORKERS]: turns('1', '0') }, also: ['RoleDown'] },
  DependencyLostByOne: { series: { [STORE]: turns('1', '0') } },
  ProcessTooOld: {
    series: {
      'ready_check_up{check="format",role="workers",instance="workers"}': turns('1', '0'),
    },
  },
  CrashLoop: {
    series: {
      'process_start_time_seconds{job="tracked-wallets",role="workers",instance="workers"}':
        restarts,
    },
    delay: 3,
  },
  DiskNearlyFull: {
    series: {
      'node_filesystem_avail_bytes{fstype="ext4",mountpoint="/data"}': turns('500', '99'),
    },
  },
  IngestWithoutLeader: {
    series: { 'ingest_slot{instance="ingest"}': turns('1000+38', `${1000 + 38 * FAULT.samples}`) },
  },
  StageStalled: {
    series: {
      'ready_check_up{check="stages",role="workers",instance="workers"}': turns('1', '0'),
    },
  },
  FeedLag: {
    series: {
      'stage_block_time_seconds{stage="feed",instance="api"}': turns('0+15', `${FAULT.seconds}`),
    },
    delay: 1.5,
  },
  StorageLag: {
    series: {
      'stage_block_time_seconds{stage="storage",instance="api"}': turns('0+15', `${FAULT.seconds}`),
    },
    delay: 1.5,
  },
  NoTrades: {
    series: {
      'fold_records_total{kind="swap",instance="workers"}': turns('0+7', `${7 * FAULT.samples}`),
    },
    delay: 11,
  },
  ServerErrors: { series: { [FAILED]: turns('0+3', `${3 * FAULT.samples}+90`) }, delay: 1.5 },
  LoadShed: {
    series: {
      'api_requests_shed_total{instance="api"}': turns('0+3', `${3 * FAULT.samples}+90`),
    },
    delay: 1.5,
  },
  RollUpStuck: {
    series: { 'credits_rolled_up_time_seconds{instance="api"}': turns('0+15', `${FAULT.seconds}`) },
    delay: 2.5,
  },
  WebhooksStuck: {
    series: {
      'webhooks_checked_time_seconds{instance="webhooks-2"}': turns('0+15', `${FAULT.seconds}`),
    },
    delay: 1.5,
  },
  ProbeFailing: { series: { probe_up: turns('1', '0') } },
  ProbeDown: {
    series: { 'up{job="tracked-wallets-probe",instance="probe"}': turns('1', '0') },
  },
  BreakNotRepaired: { series: { chain_break_oldest_seconds: turns('0', '0+15') }, delay: 11 },
  BreaksUnexplained: { series: { 'chain_breaks{state="unexplained"}': turns('0', '2') } },
  HoleInTheLog: {
    series: { 'fold_holes_total{lost="slots",instance="workers"}': turns('0', '1') },
  },
  BackfillOpen: { series: { 'backfill_open_jobs{reason="gap"}': turns('0', '3') }, delay: 61 },
  RpcRefuses: { series: { 'ingest_refused_total{what="block"}': turns('0', '1') } },
}

const whyNot = existsSync('/usr/bin/promtool') ? '' : ': promtool is not installed'

const run = whyNot === '' ? test : test.skip
run(`each alert fires on its fault alone, and not before its time is over${whyNot}`, (t) => {
  t.deepEqual(Object.keys(FAULTS).sort(), rules.map(({ alert }) => alert).sort())
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'test.yml')
  const tests = rules.map(scenarioOf)
  const rule_files = [join(ROOT, 'infra/prometheus/alerts.yml')]
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval: '15s', tests }))
  t.notThrows(() => execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe' }))
})

/** A test of promtool: which alerts fire before the fault, too early after it, and in time. */
function scenarioOf({ alert, for: wait }: (typeof rules)[number]) {
  const { series, delay = 1, also = [] } = FAULTS[alert] ?? { series: {} }
  const waits = Number.parseInt(wait, 10) * (wait.endsWith('h') ? 60 : 1)
  const firing = (minutes: number, names: readonly string[]) => ({
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minutes * 60}s`,
    exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
  })
  return {
    name: alert,
    interval: '15s',
    input_series: Object.entries({ ...HEALTH, ...series }).map(([series, values]) => ({
      series,
      values,
    })),
    promql_expr_test: [
      firing(HEALTHY - 0.25, []),
      ...(waits > 0 ? [firing(HEALTHY + waits - 0.25, also)] : []),
      firing(HEALTHY + waits + delay, [alert, ...also]),
    ],
  }
}
