import { once } from 'node:events'
import test from 'ava'
import { WebSocket } from 'ws'
import { createRegistry } from '../pipeline/runtime/telemetry.ts'
import { ask } from './testing/ask.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { insertWallets, MINT, markStored } from './testing/rows.ts'
import { startApi } from './testing/start-api.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
  await markStored(opened.store, 100)
})
test.after.always(() => opened.remove())

const ORIGIN = 'https://app.example'
const TITLE = 'The service is at its capacity. Retry after the time in Retry-After.'

test.serial(
  'under overload product calls are 503 and cost nothing, and all other requests are answered (rule D9)',
  async (t) => {
    const registry = createRegistry()
    let isOverloaded = false
    const api = await startApi(opened.store, {
      registry,
      loadShedder: { admits: () => !isOverloaded },
      config: { corsOrigins: [ORIGIN] },
    })
    const { key, wallet } = await api.customer(10)
    const { paths } = (await ask(api, '/openapi.json')).body as unknown as Document
    isOverloaded = true
    const gets = Object.entries(paths).filter(([, { get }]) => get !== undefined)
    const refused: string[] = []
    for (const [path] of gets) {
      const { body } = await ask(api, path.replace('{mint}', MINT).replace('{alias}', 'W1'), key)
      if (body.title === TITLE) refused.push(path)
    }
    const priced = gets.filter(([, { get }]) => get?.responses['402'] !== undefined)
    t.deepEqual(
      refused,
      priced.map(([path]) => path),
    )

    const { status, headers, body } = await ask(api, '/trades?limit=0', 'tw_none', {
      headers: { origin: ORIGIN },
    })
    const requestId = headers.get('x-request-id') ?? ''
    t.deepEqual(
      [status, body as unknown],
      [
        503,
        {
          type: 'about:blank',
          title: TITLE,
          status: 503,
          detail: 'unavailable',
          code: 'unavailable',
          request_id: requestId,
        },
      ],
    )
    const { date, 'content-length': length, ...fields } = Object.fromEntries(headers)
    t.deepEqual(fields, {
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers':
        'API-Version,ETag,X-Request-Id,X-Head-Cursor,X-Credits-Cost,X-Credits-Remaining,X-Unknown-Parameters,RateLimit,RateLimit-Policy,Retry-After',
      'api-version': '1',
      'cache-control': 'private, no-cache',
      connection: 'keep-alive',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'application/problem+json',
      'cross-origin-resource-policy': 'same-origin',
      'keep-alive': 'timeout=65',
      'referrer-policy': 'no-referrer',
      'retry-after': '1',
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
      'x-credits-cost': '0',
      'x-request-id': requestId,
    })
    t.is(await api.credits.left(wallet), 10)
    const counted = `api_requests_shed_total ${priced.length + 1}`
    t.true((await registry.metrics()).split('\n').includes(counted))

    t.is((await ask(api, '/me/api', await api.token(wallet))).status, 200)
    const socket = new WebSocket(`${api.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await once(socket, 'open')
    socket.close()
    await once(socket, 'close')

    isOverloaded = false
    t.is((await ask(api, '/trades', key)).status, 200)
    await api.close()
  },
)

test.serial(
  'a flood that the event loop cannot keep up with is shed, and calls after it are answered',
  async (t) => {
    // Each request takes longer than the limit, so no turn of the event loop says that it keeps up.
    const now = () => {
      for (const end = performance.now() + 2; performance.now() < end; );
      return Date.now()
    }
    const api = await startApi(opened.store, { now, config: { shedLoadAboveMs: 1 } })
    const { key } = await api.customer(1_000_000)
    let isShed = false
    const flood = async () => {
      for (let call = 0; !isShed && call < 200; call++)
        if ((await ask(api, '/wallets', key)).status === 503) isShed = true
    }
    await Promise.all(Array.from({ length: 50 }, flood))
    t.true(isShed)
    t.is((await ask(api, '/wallets', key)).status, 200)
    await api.close()
  },
)

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly responses: Readonly<Record<string, unknown>> } }>
  >
}
