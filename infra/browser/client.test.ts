import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { startFlakyRelay } from '../simulate/flaky-relay.ts'
import { type ContractTrade, Customer, contractFields, until } from '../whole-service/customer.ts'
import { deploy } from '../whole-service/deployment.ts'
import { ROOT } from '../whole-service/service-process.ts'
import { findChromium, launchChromium } from './chromium.ts'
import { openVisitor } from './visitor.ts'

/*
 * The TypeScript package in headless Chromium, on a page of another origin and without a bundler,
 * as its README says.
 */

const PACKAGE = join(ROOT, 'clients/typescript')
/** The page follows at least so many trades. */
const COUNT = 30
/** Number of trades after which each connection is cut, at the earliest. */
const CUT_EVERY = 8
const CUTS = 3

/** The page follows trades after those that it reads first. `CREDENTIALS` are set by the test. */
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">{"imports": {
  "tracked-wallets-client": "/dist/client.js",
  "/dist/feed-socket.js": "/dist/feed-socket-browser.js"
}}</script><script type="module">
  import { Refused, TrackedWallets } from 'tracked-wallets-client'
  const service = new TrackedWallets(CREDENTIALS)
  const refusal = await service.trades({ limit: 0 }).catch((error) => error)
  const { items, head } = await service.trades({ limit: 100 })
  const got = []
  let cuts = 0
  let connections = 0
  const onNotice = ({ type }) => {
    if (type === 'connected') connections += 1
  }
  for await (const message of service.follow({ after: head, retryMs: 20, onNotice })) {
    got.push(message.trade)
    if (connections === cuts) continue // trades from before the last cut
    if (got.length >= ${COUNT} && cuts === ${CUTS}) break
    if (cuts === ${CUTS} || got.length < ${CUT_EVERY} * (cuts + 1)) continue
    cuts += 1
    await cut()
  }
  found({ code: refusal instanceof Refused && refusal.code, items, got })
</script>`

/** What the page reports. */
interface Found {
  readonly code: string
  /** The newest trades before it followed. */
  readonly items: readonly ContractTrade[]
  readonly got: readonly ContractTrade[]
}

const chromium = findChromium()
const title = 'in a browser the package calls REST, and over cuts follows each trade once'
const browserTest = chromium === null ? test.skip : test
browserTest(`${title}${chromium === null ? ' (skipped: no Chromium)' : ''}`, async (t) => {
  execFileSync(join(PACKAGE, 'build.sh'))
  const server = createServer(async ({ url = '/' }, response) => {
    const file = /^\/dist\/[\w-]+\.js$/.test(url) ? join(PACKAGE, url) : null
    response.setHeader('content-type', file === null ? 'text/html' : 'text/javascript')
    response.end(file === null ? PAGE : await readFile(file))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP
  const deployment = await deploy('embedded', [], { CORS_ORIGINS: origin, FIRST_CREDITS: '100000' })
  t.teardown(() => deployment.remove())
  const service = deployment.start('all')
  const relay = await startFlakyRelay(await service.line('url'))
  t.teardown(() => relay.close())
  const apiKey = await service.line('api_key')
  const browser = await launchChromium(chromium ?? '')
  t.teardown(() => browser.close())
  const visitor = await openVisitor(browser, { allowed: [origin, relay.url] })
  const { page } = visitor
  let sockets = 0
  page.on('websocket', () => {
    sockets += 1
  })
  await page.exposeFunction('cut', () => relay.cut())
  const reported = new Promise<Found>((resolve) => page.exposeFunction('found', resolve))
  await page.addInitScript(`CREDENTIALS = ${JSON.stringify({ url: relay.url, apiKey })}`)
  const customer = new Customer(relay.url, apiKey)
  await until(
    () => customer.walkTrades(),
    ({ trades }) => trades.length >= COUNT,
  )
  await page.goto(origin)
  const { code, items, got } = await reported

  const since = Number(items[0]?.block_time)
  const known = items.filter(({ block_time: time }) => time === since).length
  const { trades } = await until(
    () => customer.walkTrades(100, since),
    (stored) => stored.trades.length >= known + got.length,
  )
  t.is(code, 'invalid_parameter')
  t.deepEqual(got.map(contractFields), trades.reverse().slice(known, known + got.length))
  t.true(got.length >= COUNT)
  t.is(sockets, 1 + CUTS)
  // The refusal and the cuts are errors on the console.
  t.deepEqual(
    visitor.violations.filter((text) => !text.startsWith('console: ')),
    [],
  )
})
