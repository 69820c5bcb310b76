import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { createReadiness } from '../pipeline/runtime/readiness.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, markStored } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

let opened: TestStore
let api: TestApi
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
  api = await startApi(opened.store)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

test.serial(
  '10,000 anonymous requests for distinct paths of 16 KB leave memory unchanged',
  async (t) => {
    const filler = 'a'.repeat(15_900)
    const paths = [
      (n: number) => `/tokens/${n}${filler}/swaps`,
      (n: number) => `/wallets/${n}${filler}/metrics`,
      (n: number) => `/healthz?${n}${filler}`,
      (n: number) => `/${n}${filler}`,
    ]
    const flood = async (count: number, from: number) => {
      const statuses = new Map<string, number>()
      for (let n = from; n < from + count; n += 100)
        for (const status of await askAll(
          Array.from({ length: 100 }, (_, at) => paths[at % 4]?.(n + at) ?? ''),
        ))
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
      return Object.fromEntries(statuses)
    }
    await flood(400, 0) // fills the caches
    const before = memory()
    t.deepEqual(await flood(10_000, 1000), { 400: 2500, 401: 5000, 404: 2500 })
    t.true(memory() - before < 20 * 2 ** 20)
  },
)

test.serial(
  '300 concurrent callers of /readyz cause one probe of the store a second, and product calls are answered',
  async (t) => {
    let probes = 0
    const counted = {
      ...opened.store,
      ping: () => {
        probes += 1
        return opened.store.ping()
      },
    }
    const own = await startApi(counted)
    const { key } = await own.customer(1000)
    const get = (path: string) =>
      fetch(`${own.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    const started = performance.now()
    const readiness = Array.from({ length: 300 }, () => get('/readyz').then(({ status }) => status))
    const products = Array.from({ length: 20 }, () => get('/wallets').then(({ status }) => status))
    t.deepEqual([...new Set(await Promise.all(products))], [200])
    t.deepEqual([...new Set(await Promise.all(readiness))], [503]) // the feed has no slot yet
    t.true(probes <= 1 + (performance.now() - started) / 1000)
    await own.close()
  },
)

test.serial('the public readiness says only whether the service is ready, not why', async (t) => {
  const broken = {
    ...opened.store,
    ping: () => Promise.reject(new ServiceError('unavailable', 'ClickHouse at 10.0.0.5 is away')),
  }
  const readiness = createReadiness()
  const own = await startApi(broken, { readiness })
  const answer = await fetch(`${own.url}/readyz`)
  t.is(answer.status, 503)
  t.deepEqual(await answer.json(), { ready: false })
  const { checks } = await readiness.read() // as shown on METRICS_PORT
  t.like(checks, { store: 'ClickHouse at 10.0.0.5 is away', log: 'ok' })
  await own.close()
})

/**
 * Sends requests one after the other on one connection, and returns the statuses of their
 * responses.
 */
async function askAll(paths: readonly string[]): Promise<string[]> {
  const socket = createConnection(Number(new URL(api.url).port), '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  const last = paths.length - 1
  for (const [at, path] of paths.entries())
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: a\r\n${at === last ? 'Connection: close\r\n' : ''}\r\n`,
    )
  await once(socket, 'close')
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void // exists because of the flag

/** Bytes in use after a garbage collection. */
function memory(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
