import test from 'ava'
import type { AsyncApi } from './from-asyncapi.ts'
import type { OpenApi } from './from-openapi.ts'
import { generateCases } from './generate.ts'

const openApi: OpenApi = {
  paths: {
    '/trades': {
      get: {
        security: [{ apiKey: [] }],
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
          { name: 'cursor', in: 'query', schema: { type: 'string', format: 'cursor' } },
        ],
      },
    },
    '/auth/nonce': { post: { security: [], requestBody: {} } },
  },
}
const asyncApi: AsyncApi = {
  components: {
    schemas: { Subscribe: { properties: { action: {}, channels: {}, after: {} } } },
    messages: {
      Subscribe: { examples: [{ payload: { action: 'subscribe', channels: ['trades'] } }] },
    },
  },
  operations: { receive: { messages: [{ $ref: '#/channels/feed/messages/Subscribe' }] } },
}
const generate = (seed: number, count = 300, isShort = false) =>
  generateCases({ openApi, asyncApi }, { seed, count, isShort })

test('a seed gives the same cases each time, as many as asked for; another seed gives others', (t) => {
  t.deepEqual(generate(1), generate(1))
  t.is(generate(1).length, 300)
  t.notDeepEqual(generate(1), generate(2))
})

test('every kind, operation, parameter and message field is attacked', (t) => {
  const cases = generate(7, 500)
  t.deepEqual([...new Set(cases.map(({ kind }) => kind))].sort(), [
    'connections',
    'feed',
    'requests',
    'slow',
  ])
  const groups = new Set(cases.map(({ group }) => group))
  const expected = [
    ...['limit', 'cursor', 'unknown query', 'long query', 'credential', 'fields', 'bad head'].map(
      (attack) => `GET /trades ${attack}`,
    ),
    ...['body', 'large body', 'chunks', 'type', 'compressed', 'method'].map(
      (attack) => `POST /auth/nonce ${attack}`,
    ),
    ...['Subscribe.action', 'Subscribe.channels', 'Subscribe.after', 'text', 'frames'].map(
      (attack) => `feed ${attack}`,
    ),
  ]
  t.deepEqual(
    expected.filter((group) => !groups.has(group)),
    [],
  )
})

test('a short run has no case that waits for a timeout', (t) => {
  t.false(generate(1, 200, true).some(({ kind, limitMs }) => kind === 'slow' || limitMs > 10_000))
})
