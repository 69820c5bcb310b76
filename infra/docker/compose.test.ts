import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { billingEnv } from '../../api/billing/terms.ts'
import { apiEnv } from '../../api/config.ts'
import { pipelineEnv } from '../../pipeline/config.ts'
import { parseDockerfile } from './dockerfile.ts'

/** The project's root, three folders above the compiled test. */
const ROOT = resolve(import.meta.dirname, '../../..')
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')

const { services, volumes } = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        image: z.string(),
        build: z.object({ dockerfile: z.string() }).optional(),
        environment: z.record(z.string(), z.unknown()).default({}),
        volumes: z.array(z.string()).default([]),
        depends_on: z.record(z.string(), z.unknown()).default({}),
        healthcheck: z.unknown().optional(),
      }),
    ),
    volumes: z.record(z.string(), z.unknown()),
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
    needed.filter((name) => services[name]?.healthcheck === undefined),
    [],
    'what is waited for has a health check',
  )
})

test('docker-compose.yml runs each role once, with keys that the service reads (decisions J2)', (t) => {
  const own = Object.entries(services).filter(([, service]) => service.build !== undefined)
  t.deepEqual(
    own.map(([name, service]) => [name, service.environment.ROLES]),
    ['ingest', 'workers', 'api'].map((role) => [role, role]),
  )
  const known = Object.keys({ ...pipelineEnv, ...apiEnv, ...billingEnv })
  const keys = own.flatMap(([, service]) => Object.keys(service.environment))
  t.deepEqual(
    keys.filter((key) => !known.includes(key)),
    [],
  )
})

test('the example of .env has every value that docker-compose.yml asks for', (t) => {
  const example = readFileSync(join(ROOT, 'infra/docker/env.example'), 'utf8')
  const given = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, key]) => key)
  const asked = [...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, key]) => key)
  t.deepEqual(
    asked.filter((key) => !given.includes(key)),
    [],
  )
})

test('images of others have a version', (t) => {
  const loose = Object.values(services)
    .filter(({ build, image }) => build === undefined && !/:[0-9v]/.test(image))
    .map(({ image }) => image)
  t.deepEqual(loose, [])
})

test('the image starts the service as `npm start` does', (t) => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  const steps = parseDockerfile(readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8')).at(
    -1,
  )?.steps
  const commands = steps?.flatMap((step) => (step.kind === 'cmd' ? [step.command.join(' ')] : []))
  t.deepEqual(commands, [scripts.start])
})
