import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { brotliCompressSync, constants } from 'node:zlib'
import test from 'ava'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets, markStored } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { IMPORT_MAP, LIBRARIES, pageModules, staticImports } from './files.ts'
import { shell, shellPolicy } from './shell.ts'

/*
 * What the server sends at `/` and `/dashboard`. `infra/browser` tests the pages in a browser.
 */

const registry = createRegistry()
let opened: TestStore
let api: TestApi
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
  api = await startApi(opened.store, { registry, config: { rateLimitPerMinute: 100_000 } })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { headers })

/** Requests a path as written. `fetch` would normalise it. */
function raw(path: string, method = 'GET'): Promise<{ status: number; type: string }> {
  const { hostname, port } = new URL(api.url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method }, (response) => {
      response.resume()
      const type = response.headers['content-type'] ?? ''
      response.on('end', () => resolve({ status: response.statusCode ?? 0, type }))
    })
      .on('error', reject)
      .end()
  })
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

test('both documents and everything they load come from this origin, compressed and revalidated', async (t) => {
  for (const path of ['/', '/dashboard']) {
    const response = await get(path, { 'accept-encoding': 'br' })
    const text = await response.text()
    const field = (name: string) => response.headers.get(name)
    t.deepEqual(
      [response.status, ...['content-type', 'cache-control', 'content-encoding'].map(field)],
      [200, 'text/html; charset=utf-8', 'no-cache', 'br'],
    )
    t.is(field('x-content-type-options'), 'nosniff')
    t.is((await get(path, { 'if-none-match': field('etag') ?? '' })).status, 304)
    t.notRegex(text, /https?:\/\/|<style|style=|\bon[a-z]+=/, `${path} has nothing inline`)
    const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
    t.true(loaded.length > 3)
    for (const url of loaded) {
      const answer = await get(url)
      t.is(answer.status, 200, url)
      const kind = /\.(\w+)$/.exec(url)?.[1] ?? ''
      const isData = !(kind in TYPES) || kind === 'json'
      if (!isData) t.is(answer.headers.get('content-type'), TYPES[kind] ?? '', url)
    }
  }
})

test('the policy of the dashboard allows this origin only, and the inline import map by its hash', async (t) => {
  const response = await get('/dashboard')
  const text = await response.text()
  const policy = response.headers.get('content-security-policy') ?? ''
  const inline = [...text.matchAll(/<script(?![^>]* src=)[^>]*>([^<]*)<\/script>/g)]
  t.deepEqual(
    inline.map(([, script]) => script),
    [IMPORT_MAP],
  )
  const hash = createHash('sha256')
    .update(inline[0]?.[1] ?? '')
    .digest('base64')
  t.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${api.url.replace('http', 'ws')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
  t.true(shellPolicy('https://api.example/', null).includes("'self' wss://api.example;"))
  const service = (await get('/')).headers.get('content-security-policy') ?? ''
  t.regex(service, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
  t.notRegex(`${policy} ${service}`, /unsafe|\*|https?:/)
})

test('the test wallet is served, and its RPC allowed, only with the simulator', async (t) => {
  const rpcUrl = 'http://127.0.0.1:8899/'
  t.is((await get('/dashboard/test-wallet.js')).status, 404)
  t.is((await get('/dashboard/page/test-wallet.js')).status, 404)
  t.notRegex(await (await get('/dashboard')).text(), /test-wallet|simulator/)
  t.true(shellPolicy(api.url, { rpcUrl }).includes(' http://127.0.0.1:8899; '))
  const page = shell([], { rpcUrl: `${rpcUrl}"><script>` })
  t.true(page.includes('src="/dashboard/test-wallet.js"'))
  t.true(page.includes('content="http://127.0.0.1:8899/&quot;&gt;&lt;script&gt;"'))
})

test('every module and all its imports are served; none turns text into code or stores a secret', async (t) => {
  const modules = pageModules()
  t.true(modules.length > 15, 'the page is built: npm run build')
  const known = new Set([...modules, ...LIBRARIES].map(({ path }) => path))
  for (const { path, read } of modules) {
    const answer = await get(path)
    const text = await answer.text()
    t.deepEqual(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
      [200, TYPES.js ?? '', 'no-cache'],
      path,
    )
    t.is(text, read().toString(), path)
    const specifiers = text.matchAll(/(?:\bfrom |^import |\bimport\()['"]([^'"]+)['"]/gm)
    for (const [, specifier = ''] of specifiers) {
      const library = LIBRARIES.find((one) => one.specifier === specifier)
      const target = library?.path ?? new URL(specifier, `http://here${path}`).pathname
      t.true(known.has(target), `${path} imports ${specifier}`)
    }
    t.notRegex(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/)
    t.notRegex(text, /sessionStorage|document\.cookie|indexedDB/, path)
  }
  t.is((await get('/dashboard/lib/uplot.css')).headers.get('content-type'), TYPES.css ?? '')
})

test('the first page needs less than 100 kB of compressed script', async (t) => {
  const files = [...pageModules(), ...LIBRARIES]
  const first = staticImports('/dashboard/page/main.js', files)
  t.true(first.some(({ path }) => path.endsWith('/sign-in-page.js')))
  t.true(first.some(({ path }) => path.endsWith('/preact.js')))
  t.false(
    first.some(({ path }) => /uplot|qr\.js|top-up/.test(path)),
    'modules of a single page are loaded with that page',
  )
  const sent = await Promise.all(
    first.map(async ({ path, read }) => {
      const { headers } = await get(path, { 'accept-encoding': 'br' })
      const level = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
      const bytes = read()
      return headers.get('content-encoding') === 'br'
        ? brotliCompressSync(bytes, level).length
        : bytes.length
    }),
  )
  const total = sent.reduce((sum, bytes) => sum + bytes, 0)
  t.log(`first page: ${first.length} modules, ${total} bytes of script as sent`)
  t.true(total < 100_000)
  const preloaded = (await (await get('/dashboard')).text()).match(/rel="modulepreload"/g)
  t.is(preloaded?.length, first.length - 1)
})

test('a path that is not in the list of files is 404, however it is written', async (t) => {
  const paths = [
    '/dashboard/',
    '/dashboard/index.html',
    '/dashboard/page',
    '/dashboard/page/',
    '/dashboard/lib/',
    '/dashboard/page/../files.js',
    '/dashboard/page/..%2ffiles.js',
    '/dashboard/page/%2e%2e/files.js',
    '/dashboard/page/..%5c..%5cpackage.json',
    '/dashboard/page/....//main.js',
    '/dashboard//page/main.js',
    '/dashboard/../dashboard',
    '/dashboard/page/main.js/',
    '/dashboard/page/main.js%00.css',
    '/dashboard/page/main.js.map',
    '/dashboard/page/main.tsx',
    '/dashboard/page/tsconfig.json',
    '/dashboard/page/MAIN.js',
    '/DASHBOARD',
    '/dashboard/lib/../../../../etc/passwd',
    '/dashboard/lib/%2fetc%2fpasswd',
    '/dashboard/lib//etc/passwd',
    '/dashboard/lib/preact/package.json',
    '/dashboard/lib/constructor',
    '/dashboard/lib/__proto__',
    '/dashboard/%',
    '/index.html',
    '/favicon.ico/',
    '//dashboard',
    '/./',
    '/..',
  ]
  const answers = await Promise.all(paths.map(async (path) => ({ path, ...(await raw(path)) })))
  t.deepEqual(
    answers.filter(
      ({ status, type }) =>
        status !== 404 ||
        (type !== 'application/problem+json; charset=utf-8' && type !== 'application/problem+json'),
    ),
    [],
  )
  for (const path of ['/', '/dashboard', '/dashboard/page/main.js'])
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      t.is((await raw(path, method)).status, 405, `${method} ${path}`)
})

test('HEAD of pages, documents and checks is GET without its body, and 405 elsewhere (rule D2)', async (t) => {
  const paths = ['/', '/dashboard', '/dashboard/page/main.js', '/docs', '/docs/rest', '/docs/feed']
  const CHANGING = ['date', 'x-request-id', 'ratelimit', 'connection', 'keep-alive']
  const fieldsOf = ({ headers }: Response) =>
    [...headers].filter(([name]) => !CHANGING.includes(name))
  for (const path of [...paths, '/openapi.json', '/status', '/healthz', '/readyz']) {
    // As it is, not compressed, so that both have a length.
    const plain = { 'accept-encoding': 'identity' }
    const head = await fetch(`${api.url}${path}`, { method: 'HEAD', headers: plain })
    const whole = await get(path, plain)
    t.deepEqual([head.status, await head.text()], [whole.status, ''], path)
    t.deepEqual(fieldsOf(head), fieldsOf(whole), path)
  }
  for (const path of ['/trades', '/account', '/billing/plans', '/ws'])
    t.is((await fetch(`${api.url}${path}`, { method: 'HEAD' })).status, 405, path)
})

test('pages count towards the rate limit, cost no credits, and share one name in the metrics', async (t) => {
  const answer = await get('/dashboard/page/main.js')
  t.is(answer.headers.get('ratelimit-policy'), '"default";q=100000;w=60')
  t.is(answer.headers.get('x-credits-cost'), null)
  const names = (await registry.metrics()).matchAll(
    /api_request_seconds_count\{resource="(\/[^"]*)"/g,
  )
  const pages = new Set(
    [...names].map(([, name]) => name).filter((name) => name?.startsWith('/dash')),
  )
  t.deepEqual([...pages], ['/dashboard'])
})
