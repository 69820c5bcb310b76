import { Parser } from '@asyncapi/parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import type { z } from 'zod'
import { PROBLEMS } from '../errors.ts'
import { CLIENT_MESSAGES, SERVER_MESSAGES } from '../stream/messages.ts'
import { faultOf } from '../testing/check-answers.ts'
import { declaredResources } from '../testing/declared-resources.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * The documents, as they are served (rule D7).
 */

const resources = declaredResources()
let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  api = await startApi(opened.store)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const get = (path: string) => fetch(`${api.url}${path}`)

interface OpenApi {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly 'x-credits-cost'?: number
            readonly security: readonly object[]
            readonly parameters: readonly {
              readonly name: string
              readonly in: string
              readonly schema: object
            }[]
            readonly responses: Readonly<Record<string, object>>
          }
        >
      >
    >
  >
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly description: string }>>
  }
}

test('openapi.json is an OpenAPI 3.1 document of every resource, with its price', async (t) => {
  const response = await get('/openapi.json')
  t.is(response.headers.get('content-type'), 'application/json')
  const document = (await response.json()) as OpenApi
  const validator = new Validator()
  const result = await validator.validate({ ...document })
  t.deepEqual(result.errors, undefined)
  t.true(result.valid)
  t.regex(document.openapi, /^3\.1\./)
  t.deepEqual(document.servers, [{ url: api.url }])
  t.deepEqual(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method} ${path}`,
        operation['x-credits-cost'] ?? 0,
        operation.security.flatMap((one) => Object.keys(one)).join(),
      ]),
    ),
    [
      ['get /tokens/{mint}/swaps', 3, 'apiKey'],
      ['get /tokens/{mint}/wallet-aggregates', 3, 'apiKey'],
      ['get /tokens/held', 3, 'apiKey'],
      ['get /tokens/{mint}', 3, 'apiKey'],
      ['get /wallets', 1, 'apiKey'],
      ['get /wallets/{alias}/metrics', 1, 'apiKey'],
      ['get /wallets/holdings', 1, 'apiKey'],
      ['get /wallets/{alias}/holdings', 1, 'apiKey'],
      ['get /wallets/{alias}/trades', 1, 'apiKey'],
      ['get /wallets/{alias}/positions', 1, 'apiKey'],
      ['get /wallets/{alias}/pnl', 1, 'apiKey'],
      ['get /trades', 3, 'apiKey'],
      ['get /prices/sol', 1, 'apiKey'],
      ['get /search', 1, 'apiKey'],
      ['get /account', 0, 'apiKey'],
      ['post /auth/nonce', 0, ''],
      ['post /auth/login', 0, ''],
      ['post /auth/logout', 0, 'dashboardToken'],
      ['post /auth/logout-everywhere', 0, 'dashboardToken'],
      ['get /.well-known/jwks.json', 0, ''],
      ['get /me/api', 0, 'dashboardToken'],
      ['post /me/api/rotate', 0, 'dashboardToken'],
      ['get /me/keys', 0, 'dashboardToken'],
      ['post /me/keys', 0, 'dashboardToken'],
      ['delete /me/keys/{id}', 0, 'dashboardToken'],
      ['get /me/webhooks', 0, 'dashboardToken'],
      ['post /me/webhooks', 0, 'dashboardToken'],
      ['patch /me/webhooks/{id}', 0, 'dashboardToken'],
      ['delete /me/webhooks/{id}', 0, 'dashboardToken'],
      ['post /me/webhooks/{id}/secret', 0, 'dashboardToken'],
      ['post /me/webhooks/{id}/replay', 0, 'dashboardToken'],
      ['post /me/webhooks/{id}/test', 0, 'dashboardToken'],
      ['get /me/webhooks/{id}/deliveries', 0, 'dashboardToken'],
      ['get /me/sessions', 0, 'dashboardToken'],
      ['delete /me/sessions/{id}', 0, 'dashboardToken'],
      ['post /me/session-key', 0, 'dashboardToken'],
      ['get /me/usage', 0, 'dashboardToken'],
      ['get /me/events', 0, 'dashboardToken'],
      ['get /billing/plans', 0, ''],
      ['post /billing/pro/check', 0, 'dashboardToken'],
      ['post /billing/credits/check', 0, 'dashboardToken'],
      ['get /billing/credits/topups', 0, 'dashboardToken'],
      ['get /billing/pro/payments', 0, 'dashboardToken'],
      ['get /me/watchlists/trending', 0, 'dashboardToken'],
      ['get /me/signals/filter', 0, 'dashboardToken'],
      ['get /status', 0, ''],
      ['head /status', 0, ''],
      ['get /healthz', 0, ''],
      ['head /healthz', 0, ''],
      ['get /readyz', 0, ''],
      ['head /readyz', 0, ''],
    ],
  )
  const trades = document.paths['/trades']?.get
  const [limit, cursor] = trades?.parameters ?? []
  t.deepEqual(limit?.schema, { type: 'integer', minimum: 1, maximum: 100, default: 25 })
  t.deepEqual(cursor?.schema, { type: 'string', format: 'cursor' })
  const statuses = ['200', '304', '400', '401', '402', '403', '405', '413', '429', '500', '503']
  t.deepEqual(Object.keys(document.paths['/wallets']?.get?.responses ?? {}), statuses)
  t.true('404' in (trades?.responses ?? {}))
  for (const [code, [status]] of Object.entries(PROBLEMS))
    t.true(document.components.responses[status]?.description.includes(`\`${code}\``), code)
  // Every description has text.
  t.notRegex(JSON.stringify(document), /"description":""/)
})

test('every example of the documents is valid by its schema', (t) => {
  for (const { path, answer, docs, requestBody } of resources) {
    t.deepEqual(answer.parse(docs.example), docs.example as never, path)
    if (requestBody)
      t.deepEqual(requestBody.strict().safeParse(docs.requestExample).error, undefined, path)
  }
})

test('asyncapi.json is an AsyncAPI 3.0 document of every message, with valid examples', async (t) => {
  const text = await (await get('/asyncapi.json')).text()
  const { document, diagnostics } = await new Parser().parse(text)
  t.deepEqual(
    diagnostics.filter(({ severity }) => severity <= 1).map(({ message, path }) => [message, path]),
    [],
  )
  t.is(document?.version(), '3.0.0')
  const schemas = new Map<string, z.ZodType>(
    [...CLIENT_MESSAGES, ...SERVER_MESSAGES].map((schema) => [schema.meta()?.id ?? '', schema]),
  )
  const messages = document?.messages().all() ?? []
  t.deepEqual(messages.map((message) => message.name()).sort(), [...schemas.keys()].sort())
  for (const message of messages) {
    const examples = message.examples().all()
    t.true(examples.length > 0, message.name())
    for (const example of examples) {
      const payload = example.payload()
      t.deepEqual(schemas.get(message.name() ?? '')?.parse(payload), payload, message.name())
    }
  }
})

test('the pages and all files that they load are served here, and may load nothing from elsewhere', async (t) => {
  for (const path of ['/docs', '/docs/rest', '/docs/feed', '/docs/security']) {
    const response = await get(path)
    const text = await response.text()
    t.is(response.status, 200, path)
    t.is(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    t.regex(policy, /^default-src 'none'; /)
    t.notRegex(policy, /\*|https?:|unsafe/)
    const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
    t.true(loaded.length > 0)
    for (const url of loaded) {
      t.regex(url, /^\/(?!\/)/, `${path} names another host`)
      t.is((await get(url)).status, 200, url)
    }
    t.notRegex(text, /<script(?![^>]* src=)|<style|style=|https?:\/\//, path)
  }
  const feed = await (await get('/docs/feed')).text()
  for (const schema of [...CLIENT_MESSAGES, ...SERVER_MESSAGES])
    t.true(feed.includes(`<section id="${schema.meta()?.id}">`))
  t.true(feed.includes('<code>data.token_amount</code>'))
  const script = await get('/docs/swagger-ui-bundle.js')
  t.is(script.headers.get('content-type'), 'text/javascript; charset=utf-8')
  t.true((await script.text()).length > 1_000_000)
  const again = await fetch(`${api.url}/docs`, {
    headers: { 'if-none-match': (await get('/docs')).headers.get('etag') ?? '' },
  })
  t.is(again.status, 304)
})

test('a response that differs from the documents is reported', (t) => {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const { example } = resources.find(({ path }) => path === '/wallets')!.docs
  const answer = {
    path: '/wallets',
    status: 200,
    type: 'application/json',
    body: json(example),
    has: () => true,
  }
  t.is(faultOf(answer), null)
  t.truthy(faultOf({ ...answer, body: json({ ...(example as object), more: 1 }) }))
  t.truthy(faultOf({ ...answer, body: json({ ...(example as object), total: '1' }) }))
  t.truthy(faultOf({ ...answer, type: 'text/plain' }))
  t.is(faultOf({ ...answer, has: (name) => name !== 'x-credits-cost' }), 'lacks x-credits-cost')
  const refusal = {
    type: 'about:blank',
    title: 'No.',
    status: 404,
    detail: 'wallet_not_found',
    code: 'wallet_not_found',
    request_id: 'x',
  }
  const refused = { ...answer, status: 404, type: 'application/problem+json', body: json(refusal) }
  t.is(faultOf({ ...refused, path: '/wallets/W9/metrics' }), null)
  t.truthy(faultOf(refused))
})
