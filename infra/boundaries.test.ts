import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import test from 'ava'
import { z } from 'zod'

/** The root of the project, two folders above the compiled test. */
const ROOT = resolve(import.meta.dirname, '../..')

/** The dashboard's browser code, which both builds configure separately. */
const PAGE = 'api/dashboard/page'

/** Rooms of the pipeline that the API may import. */
const SHARED = ['domain', 'fold', 'log', 'store', 'runtime'].map((name) => `pipeline/${name}`)

/** Files directly in `api` that its rooms may import. The other files there assemble the API. */
const API_BASE = [
  'api/account-locks.ts',
  'api/aes-siv.ts',
  'api/answer.ts',
  'api/cursor.ts',
  'api/errors.ts',
  'api/fair-queue.ts',
  'api/fair-reads.ts',
  'api/marker-cache.ts',
  'api/mint-answer-cache.ts',
  'api/read-or-create-file.ts',
  'api/redis-connection.ts',
  'api/redis-url.ts',
  'api/rendered-answer.ts',
  'api/secret-key.ts',
  'api/state-reader.ts',
  'api/storage-position.ts',
  'api/telemetry.ts',
  'api/unknown-names.ts',
]

/** Allowed imports between the rooms of `api`. */
const API_ROOMS: Readonly<Record<string, readonly string[]>> = {
  credits: [],
  'rate-limits': [],
  channel: ['credits'],
  accounts: ['channel', 'credits'],
  auth: ['accounts', 'channel'],
  billing: ['accounts', 'credits'],
  webhooks: ['credits'],
  items: ['accounts', 'billing', 'credits', 'webhooks'],
  rows: ['items'],
  resources: ['accounts', 'auth', 'billing', 'channel', 'credits', 'items', 'rows', 'webhooks'],
  middleware: ['accounts', 'auth', 'billing', 'credits', 'rate-limits', 'resources'],
  stream: ['channel', 'credits', 'items', 'middleware', 'resources', 'rows'],
  delivery: ['accounts', 'billing', 'credits', 'rows', 'stream', 'webhooks'],
  openapi: ['items', 'middleware', 'resources', 'stream'],
  mcp: ['accounts', 'credits', 'items', 'middleware', 'openapi', 'resources', 'rows', 'stream'],
  dashboard: ['middleware', 'openapi'],
}

/**
 * Allowed imports of the files of each room from outside the room. The longest matching prefix
 * counts.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'pipeline/domain': [],
  'pipeline/records': ['pipeline/domain'],
  'pipeline/runtime': ['pipeline/domain'],
  'pipeline/config.ts': ['pipeline/domain', 'pipeline/runtime'],
  'pipeline/decode': ['pipeline/domain'],
  'pipeline/fold': ['pipeline/domain'],
  'pipeline/trending': ['pipeline/domain', 'pipeline/fold'],
  'pipeline/ingest': ['pipeline/domain', 'pipeline/runtime'],
  'pipeline/log': ['pipeline/domain', 'pipeline/records', 'pipeline/runtime', 'pipeline/config.ts'],
  'pipeline/store': ['pipeline/domain', 'pipeline/runtime'],
  'pipeline/workers': ['pipeline'],
  'pipeline/testing': ['pipeline'],
  // The page runs in browsers. It may import types of items (`import type`), because the server
  // sends no modules but the page's, and packages of the import map.
  'api/dashboard/page': ['api/items'],
  // The client of customers imports types of the API, and code of `pipeline/domain` alone.
  'api/client': ['api/errors.ts', 'api/items', 'api/resources', 'api/stream', 'pipeline/domain'],
  ...Object.fromEntries(API_BASE.map((file) => [file, [...SHARED, ...API_BASE]])),
  ...Object.fromEntries(
    Object.entries(API_ROOMS).map(([name, others]) => [
      `api/${name}`,
      [...SHARED, ...API_BASE, ...others.map((other) => `api/${other}`)],
    ]),
  ),
  'api/testing': ['api', 'pipeline'],
  api: ['api', ...SHARED],
  infra: ['pipeline', 'api'],
}

/** Loaded by `import()` alone, and only with a collector of traces. */
const TRACING = 'pipeline/runtime/span-export.ts'

/** Packages that only one file may import: the file that talks to the server of that client. */
const SOLE_IMPORTER: Readonly<Record<string, string>> = {
  kafkajs: 'pipeline/log/kafka-client.ts',
  ioredis: 'api/redis-connection.ts',
  '@grpc/grpc-js': 'pipeline/ingest/stream/yellowstone.ts',
  '@opentelemetry/api': TRACING,
  '@opentelemetry/exporter-trace-otlp-http': TRACING,
  '@opentelemetry/resources': TRACING,
  '@opentelemetry/sdk-trace': TRACING,
}

const sources = ['pipeline', 'api', 'infra'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${top}/${file}`),
)

const isTest = (file: string) =>
  /(\.test|\.contract|\.bench)\.ts$/.test(file) ||
  /\/(testing|whole-service|simulate|drills)\//.test(file)

const imports = sources.flatMap((file) =>
  [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(
      /^(?:import|export)\b(?:[^'"]*?\bfrom)?\s*['"]([^'"]+)['"]/gm,
    ),
  ].map((match) => ({ file, specifier: match[1] ?? '' })),
)

const literalImports = sources.flatMap((file) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].map(
    (match) => ({ file, specifier: match[1] ?? '' }),
  ),
)

const room = (file: string) =>
  Object.keys(MAY_IMPORT)
    .filter((prefix) => file === prefix || file.startsWith(`${prefix}/`))
    .sort((a, b) => b.length - a.length)[0]

const internalImports = imports
  .filter(({ file, specifier }) => specifier.startsWith('.') && !isTest(file))
  .map(({ file, specifier }) => ({
    file,
    target: relative(ROOT, resolve(ROOT, dirname(file), specifier)),
  }))

test('imports point one way', (t) => {
  const wrong = internalImports
    .filter(({ file, target }) => {
      const from = room(file)
      const others = from === undefined ? [] : (MAY_IMPORT[from] ?? [])
      return (
        target.includes('/testing/') ||
        (room(target) !== from &&
          !others.some((prefix) => target === prefix || target.startsWith(`${prefix}/`)))
      )
    })
    .map(({ file, target }) => `${file} imports ${target}`)
  t.deepEqual(wrong, [])
})

test('no rooms import each other in a circle', (t) => {
  let edges = internalImports
    .map(({ file, target }) => ({ from: room(file), to: room(target), file, target }))
    .filter(({ from, to }) => from !== to)
  // A room that imports no other room, or that none imports, is not part of an import cycle.
  for (let before = Infinity; edges.length < before; ) {
    before = edges.length
    const importers = new Set(edges.map(({ from }) => from))
    const imported = new Set(edges.map(({ to }) => to))
    edges = edges.filter(({ from, to }) => importers.has(to) && imported.has(from))
  }
  t.deepEqual(
    edges.map(({ file, target }) => `${file} imports ${target}`),
    [],
  )
})

test('production code imports nothing that the production build leaves out', (t) => {
  const { exclude } = z
    .object({ exclude: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'tsconfig.production.json'), 'utf8')))
  const rooms = exclude.filter((pattern) => !pattern.includes('*'))
  t.deepEqual(
    rooms.filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
  const isLeftOut = (file: string) =>
    isTest(file) || rooms.some((path) => path !== PAGE && file.startsWith(`${path}/`))
  // The compiler also follows `import type` and `import('./literal.ts')`.
  const wrong = [...imports, ...literalImports]
    .filter(({ file, specifier }) => specifier.startsWith('.') && !isLeftOut(file))
    .map(({ file, specifier }) => ({
      file,
      target: relative(ROOT, resolve(ROOT, dirname(file), specifier)),
    }))
    .filter(({ target }) => isLeftOut(target))
    .map(({ file, target }) => `${file} imports ${target}`)
  t.deepEqual(wrong, [])
})

test('every source file belongs to a room', (t) => {
  t.deepEqual(
    sources.filter((file) => !isTest(file) && room(file) === undefined),
    [],
  )
})

test('only one file imports the client of a server', (t) => {
  const wrong = imports
    .filter(({ file, specifier }) => {
      const sole = SOLE_IMPORTER[specifier]
      return sole !== undefined && file !== sole && !isTest(file)
    })
    .map(({ file, specifier }) => `${file} imports ${specifier}`)
  t.deepEqual(wrong, [])
})

test('the packages of tracing are loaded only on demand', (t) => {
  const wrong = internalImports.filter(({ target }) => target === TRACING)
  t.deepEqual(wrong, [])
})

test('the lock file names the optional packages of every platform, as npm ci requires', (t) => {
  const lock: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { packages } = LockFile.parse(lock)
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  t.deepEqual(missing, [])
})

test('every test that the threat model names exists', (t) => {
  const model = readFileSync(join(ROOT, 'infra/decisions/threat-model.md'), 'utf8')
  const [table = '', list = ''] = model.split('Shown by')
  const tests = list.replace(/\n +/g, ' ')
  const numbers = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, n]) => n)
  t.deepEqual(numbers(tests, /^(\d+)\. /gm), numbers(table, /^\| (\d+) +\|/gm))
  const named = [...tests.matchAll(/`([^`]+\.test\.ts)`: ("[^"]+"(?:(?:, | to )"[^"]+")*)/g)]
  t.true(named.length > 20)
  const missing = named.flatMap(([, file = '', titles = '']) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    return [...titles.matchAll(/"([^"]+)"/g)]
      .filter(([, title = '']) => !source.includes(title))
      .map(([, title]) => `${file}: ${title}`)
  })
  t.deepEqual(missing, [])
})

test('every production package was reviewed in its installed version', (t) => {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
  const { dependencies, optionalDependencies } = PackageFile.parse(JSON.parse(read('package.json')))
  const rows = read('infra/decisions/reviewed-dependencies.md').matchAll(
    /^\| `([^`]+)` +\| ([^ |]+) +\| \d{4}-\d\d-\d\d +\|/gm,
  )
  t.deepEqual(Object.fromEntries([...rows].map(([, name, version]) => [name, version])), {
    ...dependencies,
    ...optionalDependencies,
  })
})

const PackageFile = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
})

const LockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ optionalDependencies: z.record(z.string(), z.string()).default({}) }),
  ),
})
