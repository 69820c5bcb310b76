import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import type { Engine } from './engine.ts'
import { createEngineStore } from './engine-store.ts'
import { createHttpEngine } from './http-engine.ts'

/** An engine that answers a probe when `answer` is called, and all other calls as `read` does. */
function anEngine(read: () => Promise<string[]>) {
  let probes = 0
  let answer = () => {}
  const engine: Engine = {
    kind: 'chdb',
    read,
    run: async () => {},
    insert: async () => {},
    ping() {
      probes += 1
      return new Promise((resolve) => {
        answer = resolve
      })
    },
    close: async () => {},
  }
  return { store: createEngineStore(engine), answer: () => answer(), probes: () => probes }
}

test('at most one probe of the store is under way, however many callers there are', async (t) => {
  const { store, answer, probes } = anEngine(async () => [])
  const pings = Array.from({ length: 300 }, () => store.ping())
  t.is(probes(), 1)
  answer()
  await Promise.all(pings)
  t.is(probes(), 1)
})

test('a store that answered within a second is not probed; one that was unreachable is', async (t) => {
  let isAway = false
  const { store, answer, probes } = anEngine(async () => {
    if (isAway) throw new Error('connect ECONNREFUSED')
    return []
  })
  await store.query('SELECT 1')
  await store.ping()
  t.is(probes(), 0)
  isAway = true
  await t.throwsAsync(store.query('SELECT 1'), { code: 'unavailable' })
  const ping = store.ping()
  t.is(probes(), 1)
  answer()
  await ping
})

test('a probe does not wait for running queries', async (t) => {
  const { store, answer } = anEngine(() => new Promise(() => {}))
  for (let n = 0; n < 2000; n++) store.query('SELECT 1').catch(() => {})
  await t.throwsAsync(store.query('SELECT 1'), { message: 'too many queries wait for the store' })
  const ping = store.ping()
  answer()
  await t.notThrowsAsync(ping)
})

test('a server is probed on its own connection, so hanging queries do not delay it', async (t) => {
  let hanging = 0
  const server = createServer(async (request, response) => {
    if ((await text(request)) === 'SELECT 1') response.end('1\n')
    else hanging += 1
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP
  const engine = createHttpEngine({
    origin: `http://127.0.0.1:${port}`,
    username: 'default',
    password: '',
    database: 'default',
    timeoutMs: 10_000,
  })
  const reads = Array.from({ length: 100 }, () => engine.read('SELECT 2').catch(() => []))
  await t.notThrowsAsync(engine.ping())
  t.true(hanging < reads.length)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await Promise.all(reads)
  await engine.close()
})

test('an answer that does not end with a whole row is an error, not fewer rows', async (t) => {
  const row = '{"n":1}\n'
  const exception = 'Code: 243. DB::Exception: no space left. (NOT_ENOUGH_SPACE) (version 26.7)'
  await checkAnswers(t, [
    { body: row, expected: [{ n: 1 }] },
    { body: '', expected: [] },
    { body: row.slice(0, -1), expected: 'the store does not answer' },
    { body: `${row}{"n`, expected: 'the store does not answer' },
    { body: `${row}{"n\n${row}`, expected: 'the store does not answer' },
    { body: exception, expected: 'the store cannot serve now (code 243)' },
    { body: `${row}${exception}\n`, expected: 'the store cannot serve now (code 243)' },
    {
      body: `${row}Code: 62. DB::Exception: no. (SYNTAX_ERROR)`,
      expected: 'the store refused a statement (code 62)',
    },
  ])
})

test('an answer with other rows than its header announced is an error', async (t) => {
  const row = '{"n":1}\n'
  await checkAnswers(t, [
    { body: '', announced: 1, expected: 'an answer of the store lacks rows' },
    { body: row, announced: 2, expected: 'an answer of the store lacks rows' },
    { body: '', announced: 0, expected: [] },
    { body: row, announced: 1, expected: [{ n: 1 }] },
    { body: row + row, announced: 1, expected: 'an answer of the store lacks rows' },
  ])
})

/** An answer of a server, and what a query returns, or the message that it rejects with. */
interface Answer {
  readonly body: string
  /** `result_rows` of the header with the summary. */
  readonly announced?: number
  readonly expected: unknown
}

async function checkAnswers(t: ExecutionContext, answers: readonly Answer[]): Promise<void> {
  let asked = 0
  const server = createServer((_, response) => {
    const { body, announced } = answers[asked++] ?? { body: 'asked too often' }
    if (announced !== undefined)
      response.setHeader('x-clickhouse-summary', JSON.stringify({ result_rows: `${announced}` }))
    response.end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP
  const store = createEngineStore(
    createHttpEngine({
      origin: `http://127.0.0.1:${port}`,
      username: 'default',
      password: '',
      database: 'default',
      timeoutMs: 10_000,
    }),
  )
  const outcomes: unknown[] = []
  for (const _ of answers)
    outcomes.push(await store.query('SELECT n').catch((error: Error) => error.message))
  t.deepEqual(
    outcomes,
    answers.map(({ expected }) => expected),
  )
  await store.close()
  server.close()
}
