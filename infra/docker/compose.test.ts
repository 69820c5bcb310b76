import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { readJwtKeys } from '../../api/auth/jwt-keys.ts'
import { billingEnv } from '../../api/billing/terms.ts'
import { apiEnv } from '../../api/config.ts'
import { pipelineEnv } from '../../pipeline/config.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { SECRET_KEYS } from '../../pipeline/runtime/secret-files.ts'

/** The project's root, three folders above the compiled test. */
const ROOT = resolve(import.meta.dirname, '../../..')
/** Services that run once: before the roles start, or by an operator. */
const ONE_SHOTS = ['migrate', 'topics', 'operator']
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')

const { services, volumes, secrets, networks } = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        image: z.string(),
        build: z.object({ dockerfile: z.string() }).optional(),
        environment: z.record(z.string(), z.unknown()).default({}),
        entrypoint: z.array(z.string()).optional(),
        secrets: z.array(z.string()).default([]),
        networks: z.array(z.string()),
        ports: z.array(z.string()).default([]),
        profiles: z.array(z.string()).default([]),
        mem_limit: z.string().optional(),
        pids_limit: z.number().optional(),
        cap_drop: z.array(z.string()).default([]),
        security_opt: z.array(z.string()).default([]),
        volumes: z.array(z.string()).default([]),
        depends_on: z.record(z.string(), z.unknown()).default({}),
        healthcheck: z.unknown().optional(),
      }),
    ),
    volumes: z.record(z.string(), z.unknown()),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
    networks: z.record(z.string(), z.object({ internal: z.boolean().default(false) })),
  })
  .parse(parse(text, { merge: true }))

test('docker-compose.yml names files, volumes and services that exist', (t) => {
  const mounts = Object.values(services).flatMap((service) =>
    service.volumes.map((mount) => mount.split(':')[0] ?? ''),
  )
  const dockerfiles = Object.values(services).flatMap(({ build }) =>
    build ? [build.dockerfile] : [],
  )
  const files = [...mounts.filter((source) => source.startsWith('.')), ...dockerfiles]
  t.deepEqual(
    files.filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
  const named = mounts.filter((source) => /^[a-z]/.test(source))
  t.deepEqual([...new Set(named)].sort(), Object.keys(volumes).sort())
  const needed = Object.values(services).flatMap((service) => Object.keys(service.depends_on))
  t.deepEqual(
    needed.filter((name) => services[name]?.healthcheck === undefined && !ONE_SHOTS.includes(name)),
    [],
    'a service that others wait for has a health check, or ends',
  )
  const missing = (kind: 'secrets' | 'networks', known: object) =>
    Object.values(services).flatMap((service) => service[kind].filter((name) => !(name in known)))
  t.deepEqual([...missing('secrets', secrets), ...missing('networks', networks)], [])
})

test('docker-compose.yml runs each role once, with keys that the service reads (rule J2)', (t) => {
  const built = Object.entries(services).filter(([, service]) => service.build !== undefined)
  const own = built.filter(([name]) => !ONE_SHOTS.includes(name))
  t.deepEqual(
    own.map(([name, service]) => [name, service.environment.ROLES]),
    ['ingest', 'workers', 'api', 'webhooks'].map((role) => [role, role]),
  )
  const known = Object.keys({ ...pipelineEnv, ...apiEnv, ...billingEnv })
  const keys = built.flatMap(([, service]) => Object.keys(service.environment))
  const fileKeys = SECRET_KEYS.map((key) => `${key}_FILE`)
  t.deepEqual(
    keys.filter((key) => !known.includes(key) && !fileKeys.includes(key)),
    [],
  )
})

test('only ingest can read the list of wallets', (t) => {
  const readers = Object.entries(services).filter(
    ([, { volumes: mounts, environment }]) =>
      'WALLETS_FILE' in environment || mounts.some((mount) => mount.includes('WALLETS_FILE')),
  )
  t.deepEqual(
    readers.map(([name]) => name),
    ['ingest'],
  )
})

test('the example of .env has every value that docker-compose.yml reads', (t) => {
  const example = readFileSync(join(ROOT, 'infra/docker/env.example'), 'utf8')
  const given = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, key]) => key)
  const read = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, key]) => key)
  t.deepEqual(
    read.filter((key) => !given.includes(key)),
    [],
  )
})

test('each process gets the secrets of its own users, from files, and no other', (t) => {
  const given = Object.fromEntries(
    Object.entries(services).map(([name, service]) => [name, service.secrets]),
  )
  t.like(given, {
    ingest: ['clickhouse_url_ingest', 'kafka_sasl_ingest', 'redis_url_idle'],
    workers: ['clickhouse_url_workers', 'kafka_sasl_workers', 'redis_url_idle'],
    api: [
      'secret_key',
      'trade_id_key',
      'jwt_keys',
      'clickhouse_url_api',
      'kafka_sasl_api',
      'redis_url_api',
    ],
    webhooks: [
      'secret_key',
      'trade_id_key',
      'clickhouse_url_webhooks',
      'kafka_sasl_webhooks',
      'redis_url_webhooks',
    ],
  })
  for (const [name, service] of Object.entries(services)) {
    const values = Object.entries(service.environment)
    const files = values.flatMap(([, value]) =>
      typeof value === 'string' && value.startsWith('/run/secrets/') ? [value.slice(13)] : [],
    )
    if (service.build) t.deepEqual([...files].sort(), [...service.secrets].sort(), name)
    t.deepEqual(
      values.filter(
        ([key]) => SECRET_KEYS.some((secret) => secret === key) && key !== 'SOLANA_RPC_URL',
      ),
      // Both variables may be empty; a secret file may not be empty.
      values.filter(
        ([key]) =>
          (key === 'YELLOWSTONE_X_TOKEN' && !['api', 'webhooks'].includes(name)) ||
          (key === 'PRIVACY_SALT' && name !== 'ingest'),
      ),
      `${name} has a secret in its environment`,
    )
  }
})

test('each server has a network of its own, and Kafka authenticates its clients', (t) => {
  const on = (network: string) =>
    Object.keys(services).filter((name) => services[name]?.networks.includes(network))
  t.deepEqual(on('ingress'), ['api', 'prometheus'])
  for (const server of ['kafka', 'clickhouse', 'redis']) {
    t.true(networks[server]?.internal, server)
    t.deepEqual(
      on(server).filter((name) => ['kafka', 'clickhouse', 'redis'].includes(name)),
      [server],
    )
  }
  const { KAFKA_LISTENERS, KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: protocols } =
    services.kafka?.environment ?? {}
  t.is(KAFKA_LISTENERS, 'CLIENTS://:9092,CONTROLLER://localhost:9093')
  t.is(protocols, 'CONTROLLER:SASL_PLAINTEXT,CLIENTS:SASL_PLAINTEXT')
})

test('each container has limits of memory and processes, and no privileges', (t) => {
  for (const [name, service] of Object.entries(services)) {
    t.truthy(service.mem_limit, name)
    t.truthy(service.pids_limit, name)
    t.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    // The entry point of ClickHouse switches to the user `clickhouse`, which needs capabilities.
    if (name !== 'clickhouse') t.deepEqual(service.cap_drop, ['ALL'], name)
  }
})

test('make-secrets.sh makes every secret once, in a folder that only its owner can enter', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const make = () => execFileSync(join(ROOT, 'infra/docker/make-secrets.sh'), [folder])
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  make()
  t.is(statSync(folder).mode & 0o777, 0o700)
  t.deepEqual(readdirSync(folder).sort(), Object.keys(secrets).sort())
  const first = Object.fromEntries(Object.keys(secrets).map((name) => [name, read(name)]))
  make()
  t.deepEqual(Object.fromEntries(Object.keys(secrets).map((name) => [name, read(name)])), first)
  t.is((await readJwtKeys(read('jwt_keys'), 'jwt_keys')).verifying.size, 1)
  const env = readEnv(
    { ...pipelineEnv, ...apiEnv },
    {
      CLICKHOUSE_URL: read('clickhouse_url_api'),
      KAFKA_SASL: read('kafka_sasl_api'),
      REDIS_URL: read('redis_url_api'),
      SECRET_KEY: read('secret_key'),
      TRADE_ID_KEY: read('trade_id_key'),
    },
  )
  t.deepEqual(env.SECRET_KEY, env.TRADE_ID_KEY && [env.TRADE_ID_KEY])
  t.deepEqual(
    [env.CLICKHOUSE_URL?.[0]?.username, env.KAFKA_SASL?.username, env.REDIS_URL?.username],
    ['api', 'api', 'api'],
  )
})

test('clickhouse-start.sh writes passwords as SHA-256, and leaves out users without one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'users-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const users = readdirSync(join(ROOT, 'infra/clickhouse/users.d'))
  writeFileSync(join(folder, 'clickhouse_password_owner'), 'of the owner\n')
  writeFileSync(join(folder, 'clickhouse_password_api'), 'of the api\n')
  writeFileSync(join(folder, 'clickhouse_password_analyst'), '')
  const target = join(folder, 'target')
  mkdirSync(target)
  const source = join(folder, 'source')
  mkdirSync(source)
  cpSync(join(ROOT, 'infra/clickhouse/users.d'), join(source, 'users.d'), { recursive: true })
  cpSync(
    join(ROOT, 'infra/docker/clickhouse-no-default-user.xml'),
    join(source, 'no-default-user.xml'),
  )
  for (const user of users) writeFileSync(join(target, user), 'of an earlier start')
  const env = { PATH: process.env.PATH, SECRETS: folder, SOURCE: source, TARGET: target }
  const start = join(ROOT, 'infra/docker/clickhouse-start.sh')
  execFileSync('sh', [start], { env: { ...env, START: 'true' } })
  t.deepEqual(readdirSync(target).sort(), ['api.xml', 'no-default-user.xml', 'service.xml'])
  const digest = createHash('sha256').update('of the api').digest('hex')
  const api = readFileSync(join(target, 'api.xml'), 'utf8')
  t.true(api.includes(`<password_sha256_hex>${digest}</password_sha256_hex>`))
  t.false(api.includes('from_env'))
})

test('images of third parties have a version', (t) => {
  const loose = Object.values(services)
    .filter(({ build, image }) => build === undefined && !/:[0-9v]/.test(image))
    .map(({ image }) => image)
  t.deepEqual(loose, [])
})

test('the image starts the service as `npm start` does', (t) => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  const dockerfile = readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8')
  const commands = [...dockerfile.matchAll(/^CMD (.*)$/gm)].map(([, command = '']) =>
    z.array(z.string()).parse(JSON.parse(command)).join(' '),
  )
  t.deepEqual(
    commands.map((command) => `exec ${command}`),
    [scripts.start],
  )
})
