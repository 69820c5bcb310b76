import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis } from '../redis-connection.ts'
import { clientOf, siteOf } from './client-of.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'

const { REDIS_URL } = process.env
const logger = createLogger('silent')
const KINDS = REDIS_URL ? (['memory', 'redis'] as const) : (['memory'] as const)
if (!REDIS_URL) test.skip('rate limits on Redis: REDIS_URL is not set', () => {})

/** Limits of one name, as opened by `processes` processes. */
async function open(kind: (typeof KINDS)[number], quota: number, processes: number) {
  const name = `test:${randomUUID()}`
  const connections = await Promise.all(
    Array.from({ length: processes }, () =>
      kind === 'redis' ? connectRedis(new URL(REDIS_URL ?? ''), logger) : null,
    ),
  )
  const limits = connections.map((redis) => createRateLimit(name, quota, redis))
  return {
    limits: limits.filter((limit): limit is RateLimit => limit !== null),
    connections,
    close: () => {
      for (const redis of connections) redis?.disconnect()
    },
  }
}

for (const kind of KINDS) {
  test(`${kind}: each client has its own quota, and requests over it are refused until the window ends (rule D6)`, async (t) => {
    const { limits, close } = await open(kind, 3, 1)
    const [limit] = limits
    if (!limit) return t.fail()
    const take = async (client: string) => {
      const { allowed, left, resetSeconds } = await limit.take(client)
      t.true(resetSeconds >= 59 && resetSeconds <= 60, String(resetSeconds))
      return [allowed, left]
    }
    t.deepEqual(
      [await take('a'), await take('a'), await take('b'), await take('a'), await take('a')],
      [
        [true, 2],
        [true, 1],
        [true, 2],
        [true, 0],
        [false, 0],
      ],
    )
    t.deepEqual(await take('a'), [false, 0])
    t.deepEqual(await take('b'), [true, 1])
    t.deepEqual(await Promise.all(['d', 'd', 'e', 'd', 'd'].map(take)), [
      [true, 2],
      [true, 1],
      [true, 2],
      [true, 0],
      [false, 0],
    ])
    close()
  })
}

test('a quota of 0 means no limit (rule D6)', (t) => {
  t.is(createRateLimit('default', 0, null), null)
})

const onRedis = REDIS_URL ? test : test.skip
onRedis(
  'processes count together: of 50 concurrent requests exactly the quota passes',
  async (t) => {
    const { limits, close } = await open('redis', 20, 2)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => limits[at % 2]?.take('c')),
    )
    t.is(answers.filter((answer) => answer?.allowed).length, 20)
    close()
  },
)

onRedis('while Redis does not answer each process counts alone', async (t) => {
  const { limits, connections, close } = await open('redis', 2, 2)
  for (const redis of connections) redis?.disconnect()
  const [one, two] = limits
  const allowed = [
    await one?.take('d'),
    await one?.take('d'),
    await one?.take('d'),
    await two?.take('d'),
  ].map((answer) => answer?.allowed)
  t.deepEqual(allowed, [true, true, false, true])
  close()
})

test('a client is the address that called the outermost trusted proxy, for IPv6 its /64 (rule D6)', (t) => {
  const cases: [string | undefined, string | undefined, number, string][] = [
    // connection, X-Forwarded-For, trusted hops, expected client
    ['203.0.113.7', undefined, 0, '203.0.113.7'],
    ['203.0.113.7', '198.51.100.1', 0, '203.0.113.7'],
    ['10.0.0.1', '198.51.100.1', 1, '198.51.100.1'],
    ['10.0.0.1', '192.0.2.66, 198.51.100.1', 1, '198.51.100.1'],
    ['10.0.0.1', '192.0.2.66, 198.51.100.1, 10.0.0.2', 2, '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1', 2, '198.51.100.1'],
    ['10.0.0.1', undefined, 1, '10.0.0.1'],
    ['10.0.0.1', '', 1, '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, garbage', 1, '10.0.0.1'],
    ['10.0.0.1', 'garbage, 10.0.0.2', 2, '10.0.0.2'],
    ['10.0.0.1', '198.51.100.1:4711', 1, '198.51.100.1'],
    ['10.0.0.1', '[2001:db8:1:2:3:4:5:6]:4711', 1, '2001:db8:1:2::/64'],
    ['::ffff:203.0.113.7', undefined, 0, '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', undefined, 0, '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::ffff', undefined, 0, '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', undefined, 0, '2001:db8:1:3::/64'],
    ['fe80::1%eth0', undefined, 0, 'fe80::/64'],
    ['::1', undefined, 0, '::/64'],
    [undefined, undefined, 0, 'unknown'],
  ]
  t.deepEqual(
    cases.map(([connection, forwarded, hops]) => clientOf(connection, forwarded, hops)),
    cases.map(([, , , client]) => client),
  )
})

test('an IPv6 client belongs to the /48 of its /64, an IPv4 client to none', (t) => {
  t.deepEqual(
    ['2001:db8:1:2::/64', '2001:db8:1::/64', '::/64', '198.51.100.1', 'unknown'].map(siteOf),
    ['2001:db8:1::/48', '2001:db8:1::/48', '::/48', null, null],
  )
})
