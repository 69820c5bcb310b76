import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { billingEnv } from '../../api/billing/terms.ts'
import { apiEnv } from '../../api/config.ts'
import { readRedisUrl, redisAddresses } from '../../api/redis-url.ts'
import { isAllowedAddress } from '../../api/webhooks/public-address.ts'
import { pipelineEnv } from '../../pipeline/config.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { SECRET_KEYS } from '../../pipeline/runtime/secret-files.ts'
import { openOperator } from '../operator/testing/open-operator.ts'

/** The project's root, three folders above the compiled test. */
const ROOT = resolve(import.meta.dirname, '../../..')
const FOLDER = join(ROOT, 'infra/kubernetes')
const ROLES = ['ingest', 'workers', 'api', 'webhooks']

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
      args: z.array(z.string()).optional(),
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
const Template = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: Pod,
})
const Rule = z.object({
  ports: z.array(z.object({ port: z.number() })),
  to: z
    .array(z.object({ ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()) }) }))
    .default([]),
})
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
      template: Template.optional(),
      podSelector: z.unknown().optional(),
      schedule: z.string().optional(),
      timeZone: z.string().optional(),
      suspend: z.boolean().optional(),
      concurrencyPolicy: z.string().optional(),
      jobTemplate: z.object({ spec: z.object({ template: Template }) }).optional(),
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
const templates = resources.flatMap(({ metadata, spec }) => {
  const template = spec?.template ?? spec?.jobTemplate?.spec.template
  return template === undefined ? [] : [[metadata.name, template] as const]
})
const pods = templates.map(([name, { spec }]) => [name, spec] as const)
const Compose = z.object({
  services: z.record(z.string(), z.object({ secrets: z.array(z.string()).default([]) })),
})

test('the kustomization lists every manifest', (t) => {
  const manifests = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))
  t.deepEqual([...files, 'kustomization.yaml'].sort(), manifests.sort())
  t.deepEqual(
    pods.map(([name]) => name),
    ['migrate', ...ROLES, 'export'],
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
    if (ROLES.includes(name)) t.is(given.ROLES, name)
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
    const providers =
      name === 'webhooks'
        ? []
        : ['ingest', 'workers'].includes(name)
          ? ['solana_rpc_url', 'yellowstone_x_token']
          : ['solana_rpc_url']
    // An export is an operator command that never runs `sql`.
    const owned =
      name === 'export'
        ? services.operator?.secrets.filter((secret) => secret !== 'clickhouse_url_reader')
        : services[name]?.secrets
    t.deepEqual(read.sort(), [...(owned ?? []), ...providers].sort(), name)
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
        [name === 'export' ? 'migrate' : name, 0o440],
        ...(name === 'ingest' ? [['wallets', 0o440]] : []), // no other role knows the addresses
      ],
    )
  }
})

test('exports run once a night, one at a time, once an overlay lets them (rule M4)', async (t) => {
  const { spec } = resources.find(({ kind }) => kind === 'CronJob') ?? {}
  t.like(spec, {
    schedule: '20 0 * * *',
    timeZone: 'Etc/UTC',
    suspend: true,
    concurrencyPolicy: 'Forbid',
  })
  const [, exporting] = pods.find(([name]) => name === 'export') ?? []
  const [node, script, ...args] = exporting?.containers[0].args ?? []
  t.deepEqual([node, script], ['node', 'dist/infra/operator/main.js'])
  const operator = await openOperator()
  t.teardown(() => operator.close())
  // It has read every argument once it finds that an embedded store has no bucket.
  t.is(
    await operator.refused(...args),
    'bad_config: --to-dir: the embedded store writes into folders only: name one, or set CLICKHOUSE_URL',
  )
  const text = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  const at = Number(/containers\/0\/args\/(\d+)\n.*value: --to-dir=/.exec(text)?.[1])
  t.is(exporting?.containers[0].args?.[at], '--to-dir=s3://tracked-wallets/daily')
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

test('webhooks reach the public internet, and no private address', (t) => {
  const policy = resources.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'webhooks',
  )
  const blocks = policy?.spec?.egress.flatMap(({ to }) => to.map(({ ipBlock }) => ipBlock)) ?? []
  const isIn = (address: string, cidr: string) => {
    const [range, bits] = ipaddr.parseCIDR(cidr)
    const one = ipaddr.parse(address)
    return one.kind() === range.kind() && one.match(range, bits)
  }
  const reached = (address: string) =>
    blocks.some(
      ({ cidr, except }) => isIn(address, cidr) && !except.some((one) => isIn(address, one)),
    )
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((four) => four.join('.'))
  const words = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    .map((eight) => eight.map((one) => one.toString(16)).join(':'))
  fc.assert(
    fc.property(fc.oneof(bytes, words), (address) => {
      if (reached(address)) t.true(isAllowedAddress(address, false), address)
    }),
  )
  const hosts = ['10.0.0.1', '172.31.0.1', '192.168.1.1', '169.254.169.254', '127.0.0.1']
  const others = ['100.64.0.1', '224.0.0.1', '::1', 'fe80::1', 'fd00::1', '::ffff:10.0.0.1']
  t.deepEqual([...hosts, ...others].filter(reached), [])
  t.deepEqual(['1.1.1.1', '203.1.0.1', '2606:4700::1111'].map(reached), [true, true, true])
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
        [53, 53, ...new Set(servers.map((server) => Number(server.split(':').at(-1))))],
      ],
      ['chain', [], [https]],
      ['webhooks', [], [https]],
      ['api', [PORT], []],
    ],
  )
  const labels = { 'app.kubernetes.io/name': 'tracked-wallets' }
  t.like(resources.find(({ metadata }) => metadata.name === 'all-processes')?.spec, {
    podSelector: { matchLabels: labels },
  })
  t.deepEqual(
    templates.map(([name, { metadata }]) => [name, metadata.labels]),
    pods.map(([name]) => [name, { ...labels, 'app.kubernetes.io/component': name }]),
    'each pod is selected',
  )
})
