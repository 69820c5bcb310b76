import anyTest from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import type { Store } from './store.ts'
import { createTimelyStore } from './timely-store.ts'

/** How long queries run concurrently, in seconds. `.ci/long` sets minutes. */
const SECONDS = Number(process.env.ANSWERS_SECONDS ?? 4)
const ASKERS = 8

let opened: TestStore
anyTest.before(async () => {
  opened = await openTestStore()
})
anyTest.after.always(() => opened?.remove())

anyTest('each answer belongs to its query, whatever fails, times out or is given up', async (t) => {
  const { store } = opened
  await store.command('CREATE TABLE answers (n UInt64) ENGINE = MergeTree ORDER BY n')
  const until = performance.now() + SECONDS * 1000
  const counts = { answered: 0, refused: 0, givenUp: 0 }
  const wrong: unknown[] = []

  async function askOn(asker: number): Promise<void> {
    for (let n = 0; performance.now() < until; n++) {
      const token = `${asker}.${n}`
      const ask = KINDS[Math.floor(Math.random() * KINDS.length)] ?? answered
      const outcome = await ask(store, token)
      if (typeof outcome === 'string') counts[outcome] += 1
      else wrong.push({ token, ask: ask.name, ...outcome })
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, (_, asker) => askOn(asker)))
  await opened.store.ping()
  t.log(`${counts.answered} answered, ${counts.refused} refused, ${counts.givenUp} given up`)
  t.deepEqual(wrong.slice(0, 5), [])
  t.true(Math.min(counts.answered, counts.refused, counts.givenUp) > 0)
})

/** The outcome of a query. An object is a response of another query. */
type Outcome = 'answered' | 'refused' | 'givenUp' | { readonly got: unknown }
type Ask = (store: Store, token: string) => Promise<Outcome>

/**
 * Queries a known number of rows that contain `token`, passed as a parameter or in the SQL text.
 */
const answered: Ask = async (store, token) => {
  const count = Math.floor(Math.random() ** 4 * 3000)
  const isBound = Math.random() < 0.5
  const rows = await store.query<{ token: string; n: string }>(
    `SELECT ${isBound ? '{token:String}' : `'${token}'`} AS token, number AS n FROM numbers(${count})`,
    isBound ? { token } : undefined,
    ['token', 'n'],
  )
  const isOwn = rows.every((row, at) => row.token === token && row.n === String(at))
  return isOwn && rows.length === count ? 'answered' : { got: [count, rows.length, rows[0]] }
}

/** Fails after its first rows are written. */
const failing: Ask = (store, token) =>
  refused(
    store.query(
      `SELECT '${token}' AS token, number AS n, throwIf(number = 20000) AS no FROM numbers(100000) SETTINGS max_threads = 1, max_block_size = 500`,
    ),
  )

/** Times out after its first rows are written. */
const slow: Ask = (store, token) =>
  refused(
    store.query(
      `SELECT '${token}' AS token, number AS n, sleepEachRow(0.001) FROM numbers(10000) SETTINGS max_block_size = 5, max_execution_time = 0.03`,
    ),
  )

const unknown: Ask = (store, token) =>
  refused(store.query('SELECT {token:String} AS token, nothing FROM answers', { token }))

const badRow: Ask = (store, token) => refused(store.insert('answers', [{ n: token }]))

const failingCommand: Ask = (store) =>
  refused(store.command('SELECT number, throwIf(number = 5000) FROM numbers(10000)'))

/** The caller gives up, and the engine finishes the query. */
const givenUp: Ask = async (store, token) => {
  const running = store.query(`SELECT '${token}' AS token, number AS n FROM numbers(20000)`)
  const timely = createTimelyStore({ ...store, query: <T>() => running as Promise<T[]> }, 1)
  try {
    await timely.query('')
    return 'answered'
  } catch {
    await running
    return 'givenUp'
  }
}

const KINDS: readonly Ask[] = [
  answered,
  answered,
  answered,
  answered,
  failing,
  slow,
  unknown,
  badRow,
  failingCommand,
  givenUp,
]

async function refused(query: Promise<unknown>): Promise<Outcome> {
  try {
    return { got: await query }
  } catch (error) {
    if (error instanceof ServiceError) return 'refused'
    throw error
  }
}
