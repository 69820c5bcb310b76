import test from 'ava'
import type { Simulator } from '../simulator/simulator.ts'
import type { Deployment } from '../whole-service/deployment.ts'
import { Deployed, endedForLackOfServer } from './deployed.ts'
import { within } from './patience.ts'

test('a process that ended because a server was down differs from one that ended by a bug', (t) => {
  const warned = '{"level":40,"msg":"checkpoint is read again"}\n'
  const ends = {
    'KAFKA_BROKERS: nothing answers at 127.0.0.1:29000\n': true,
    [`${warned}KAFKA_BROKERS: no answer from 127.0.0.1:29000: Connection error\n`]: true,
    'CLICKHOUSE_URL: no ClickHouse answers at 127.0.0.1:29002\n': true,
    'REDIS_URL: 127.0.0.1:29003 does not answer\n': true,
    'the store cannot serve now (code 159)\n': true,
    'REDIS_URL: Sentinel at 127.0.0.1:26379 names no master that answers\n': true,
    'SOLANA_RPC_URL: the server cannot be reached: timeout after 4000 ms\n': true,
    'WALLETS_FILE: line 3 was changed\n': false,
    '{"level":50,"msg":"flush failed for good"}\nthe store does not answer\n': false,
    'Error: the store does not answer\n    at apply (fold.ts:1:1)\n': false,
    '{"level":40,"reason":"KAFKA_BROKERS: no answer from 127.0.0.1:29000"}\n': false,
    '': false,
  }
  t.deepEqual(
    Object.fromEntries(Object.keys(ends).map((stderr) => [stderr, endedForLackOfServer(stderr)])),
    ends,
  )
})

test('an expired wait names what it waited for', async (t) => {
  const never = new Promise(() => {})
  await t.throwsAsync(within(10, 'Kafka to start', never), {
    message: 'waited 0.01 s for Kafka to start',
  })
  t.is(await within(10_000, 'an answer', Promise.resolve(7)), 7)
  await t.throwsAsync(within(10_000, 'an answer', Promise.reject(new Error('refused'))), {
    message: 'refused',
  })
})

test('a wait goes on while there is progress', async (t) => {
  const work = new Promise<string>((resolve) => setTimeout(resolve, 100, 'done'))
  t.is(await within(10, 'work', work, Date.now), 'done')
})

test('reconcile is asked again while the service starts', async (t) => {
  const found = { missing: 1, unexplained: 1, unverified: 0 }
  const answers = [
    { code: 1, document: { code: 'unreachable', message: 'the service is down' } },
    { code: 1, document: found }, // a difference is unexplained (rule J3)
  ]
  const deployed = new Deployed({
    simulator: {} as Simulator,
    deployment: { operator: async () => answers.shift() } as unknown as Deployment,
    parts: [],
    envOf: {},
    faults: null,
    serversDir: null,
    laterWallet: null,
    query: async () => [],
    tell() {},
  })
  t.deepEqual(await deployed.reconcile(), found)
  t.deepEqual(answers, [])
})
