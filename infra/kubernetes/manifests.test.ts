import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'ava'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { billingEnv } from '../../api/billing/terms.ts'
import { apiEnv } from '../../api/config.ts'
import { readRedisUrl, redisAddresses } from '../../api/redis-url.ts'
import { pipelineEnv } from '../../pipeline/config.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { SECRET_KEYS } from '../../pipeline/runtime/secret-files.ts'

/** The project's root, three folders above the compiled test. */
const ROOT = resolve(import.meta.dirname, '../../..')
const FOLDER = join(ROOT, 'infra/kubernetes')
const ROLES = ['ingest', 'workers', 'api']

const Environment = z.array(z.object({ name: z.string(), value: z.string() }))
const Pod = z.object({
  automountServiceAccountToken: z.boolean(),
  enableServiceLinks: z.boolean(),
  securityContext: z.unknown(),
  topologySpreadConstraints: z.unknown().optional(),
  containers: z.tuple([
    z.object({
      image: z.string(),
      env: Environment,
      securityContext: z.unknown(),
      resources: z.object({ limits: z.object({ memory: z.string() }) }),
      livenessProbe: z.unknown().optional(),
      readinessProbe: z.unknown().optional(),
      volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
    }),
  ]),
  volumes: z.array(
    z.object({
      name: z.string(),
      secret: z.object({ secretName: z.string(), defaultMode: z.number() }).optional(),
    }),
  ),
})
const Rule = z.object({ ports: z.array(z.object({ port: z.number() })) })
const Resource = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z
    .object({
      replicas: z.number().optional(),
      strategy: z.unknown().optional(),
      maxUnavailable: z.number().optional(),
      ingress: z.array(Rule).default([]),
      egress: z.array(Rule).default([]),
      template: z.object({ spec: Pod }).optional(),
    })
    .optional(),
})

const { resources: files } = z
  .object({ resources: z.array(z.string()) })
  .parse(parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8')))
const resources = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) =>
    Resource.parse(document.toJS()),
  ),
)
const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
const pods = resources.flatMap(({ metadata, spec }) =>
  spec?.template === undefined ? [] : [[metadata.name, spec.template.spec] as const],
)
const Compose = z.object({
  services: z.record(z.string(), z.object({ secrets: z.array(z.string()).default([]) })),
})

test('the kustomization lists every manifest', (t) => {
  const manifests = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))
  t.deepEqual([...files, 'kustomization.yaml'].sort(), manifests.sort())
  t.deepEqual(
    pods.map(([name]) => name),
    ['migrate', ...ROLES],
  )
})

test('manifests set keys that the service reads, with values that it accepts (rule J13)', (t) => {
  const schema = { ...pipelineEnv, ...apiEnv, ...billingEnv }
  const known = [...Object.keys(schema), ...SECRET_KEYS.map((key) => `${key}_FILE`)]
  for (const [name, { containers }] of pods) {
    const given = Object.fromEntries(containers[0].env.map((one) => [one.name, one.value]))
    t.deepEqual(
      [...Object.keys(settings), ...Object.keys(given)].filter((key) => !known.includes(key)),
      [],
      name,
    )
    const plain = Object.entries({ ...settings, ...given }).filter(([key]) => key in schema)
    t.notThrows(() => readEnv(schema, Object.fromEntries(plain)), name)
    if (name !== 'migrate') t.is(given.ROLES, name)
  }
})

test('each process reads from files the secrets that it has in docker-compose.yml, and RPC and Yellowstone', (t) => {
  const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  const { services } = Compose.parse(parse(text, { merge: true }))
  for (const [name, { containers }] of pods) {
    const paths = containers[0].env.map(({ value }) => value)
    const read = paths
      .filter((path) => path.startsWith('/run/secrets/'))
      .map((path) => path.slice(13))
    const providers = ['ingest', 'workers'].includes(name)
      ? ['solana_rpc_url', 'yellowstone_x_token']
      : ['solana_rpc_url']
    t.deepEqual(read.sort(), [...(services[name]?.secrets ?? []), ...providers].sort(), name)
    const values = containers[0].env.map(({ name: key }) => key)
    t.deepEqual(
      [...values, ...Object.keys(settings)].filter((key) => SECRET_KEYS.some((one) => one === key)),
      [],
      'no secret is in the environment',
    )
  }
})

test('each pod runs without root, capabilities, a writable file system or a token of the cluster', (t) => {
  for (const [name, pod] of pods) {
    const [container] = pod.containers
    t.deepEqual(
      [pod.automountServiceAccountToken, pod.enableServiceLinks, pod.securityContext],
      [
        false,
        false,
        {
          runAsNonRoot: true,
          runAsUser: 1000,
          runAsGroup: 1000,
          fsGroup: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      ],
      name,
    )
    t.deepEqual(
      container.securityContext,
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      name,
    )
    t.deepEqual(
      container.volumeMounts.map(({ name: volume }) => volume),
      pod.volumes.map(({ name: volume }) => volume),
    )
    t.deepEqual(
      pod.volumes.flatMap(({ secret }) =>
        secret ? [[secret.secretName, secret.defaultMode]] : [],
      ),
      [
        [name, 0o440],
        ['wallets', 0o440],
      ],
    )
  }
})

test('each role is probed on its health port', (t) => {
  for (const [name, { containers }] of pods.filter(([pod]) => ROLES.includes(pod))) {
    t.like(containers[0].livenessProbe, { httpGet: { path: '/healthz', port: 'metrics' } }, name)
    t.like(containers[0].readinessProbe, { httpGet: { path: '/readyz', port: 'metrics' } }, name)
  }
})

test('each role has two processes, and updates and evictions leave one of them (rule J13)', (t) => {
  const specs = (kind: string) =>
    resources.flatMap((one) => (one.kind === kind ? [[one.metadata.name, one.spec] as const] : []))
  t.deepEqual(
    specs('Deployment').map(([name, spec]) => [
      name,
      spec?.replicas,
      spec?.strategy,
      spec?.template?.spec.topologySpreadConstraints,
    ]),
    ROLES.map((role) => [
      role,
      2,
      { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { 'app.kubernetes.io/component': role } },
        },
      ],
    ]),
  )
  t.deepEqual(
    specs('PodDisruptionBudget').map(([name, spec]) => [name, spec?.maxUnavailable]),
    ROLES.map((role) => [role, 1]),
  )
})

test('the processes of ingest share the work (rule K14), and each broker has a replica of the log', (t) => {
  const failover = pods.flatMap(([name, { containers }]) =>
    containers[0].env.flatMap(({ name: key, value }) =>
      key === 'INGEST_FAILOVER' ? [[name, value]] : [],
    ),
  )
  t.deepEqual(failover, [['ingest', 'true']])
  const { KAFKA_BROKERS = '', KAFKA_REPLICATION_FACTOR } = settings
  t.is(Number(KAFKA_REPLICATION_FACTOR), KAFKA_BROKERS.split(',').length)
})

test('network policies allow the ports of the settings, of the secrets and of Sentinels', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync(join(ROOT, 'infra/docker/make-secrets.sh'), [folder])
  const secret = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  const operating = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')
  const [, sentinels = ''] = /^REDIS_URL=(redis\+sentinel:.+)$/m.exec(operating) ?? []
  const redis = [secret('redis_url_api'), secret('redis_url_idle'), sentinels].flatMap((text) => {
    const url = readRedisUrl(text)
    return url ? redisAddresses(url) : []
  })
  const { KAFKA_BROKERS = '', YELLOWSTONE_ENDPOINT = '' } = settings
  const servers = [
    ...KAFKA_BROKERS.split(','),
    new URL(secret('clickhouse_url_api')).host,
    ...redis,
  ]
  const https = Number(new URL(YELLOWSTONE_ENDPOINT).port || 443)
  const { METRICS_PORT, PORT } = readEnv({ ...pipelineEnv, ...apiEnv }, {})
  const portsOf = (rules: readonly z.infer<typeof Rule>[] = []) =>
    rules.flatMap(({ ports }) => ports.map(({ port }) => port))
  t.deepEqual(
    resources
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .map(({ metadata, spec }) => [metadata.name, portsOf(spec?.ingress), portsOf(spec?.egress)]),
    [
      [
        'all-processes',
        [METRICS_PORT],
        [53, 53, ...new Set(servers.map((server) => Number(server.split(':').at(-1)))), https],
      ],
      ['api', [PORT], []],
    ],
  )
})
