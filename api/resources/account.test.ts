import test from 'ava'
import type { Address } from '../../pipeline/domain/address.ts'
import { entryRow, insertEntries } from '../credits/ledger-entries.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Whole responses of `GET /account` (rule L12).
 */

const NOW = Date.UTC(2026, 8, 21, 13, 0, 5)
let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openStore()
  const accountLimits = {
    requestsPerMinute: 5,
    concurrentRequests: 2,
    storeReads: 0,
    dashboardRequestsPerMinute: 0,
    dashboardConcurrentRequests: 0,
  }
  const config = { accountLimits, connectionsPerKey: 3, feedMessagesPerMinute: 120 }
  api = await startApi(opened.store, { config, now: () => NOW })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

test('an account shows balance, what the feed has reserved, Pro, bounds and the usage of the UTC day, and costs nothing', async (t) => {
  const { key, wallet } = await api.customer(100)
  await api.credits.renewBlock(wallet, { connection: 'c', sequence: 1, spent: 0, wanted: 30 })
  await useOn(wallet, Date.UTC(2026, 8, 20, 23, 59), 7, 'yesterday')
  await useOn(wallet, Date.UTC(2026, 8, 21, 0, 0), 4, 'today')
  const answer = await ask(api, '/account', key)
  t.deepEqual(
    [answer.status, answer.body],
    [
      200,
      {
        balance_credits: 70,
        reserved_credits: 30,
        pro: { active: false, plan: null, expires_at: null },
        limits: {
          requests_per_minute: 5,
          concurrent_requests: 2,
          feed_connections: 3,
          feed_messages_per_minute: 120,
        },
        usage: { since: Date.UTC(2026, 8, 21) / 1000, credits: 4 },
      },
    ],
  )
  t.deepEqual(creditsOf(answer), ['0', null])
  t.is(answer.headers.get('cache-control'), 'no-store')
  t.is(answer.headers.get('etag'), null)
})

test('an account without credits is answered, and the rate limits count it', async (t) => {
  const { key } = await api.customer(0)
  const answers = []
  for (let call = 0; call < 6; call += 1) answers.push(await ask(api, '/account?page=1', key))
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429],
  )
  t.is(answers[0]?.body.balance_credits, 0)
  t.is(answers[0]?.headers.get('x-unknown-parameters'), 'page')
  t.is((await ask(api, '/account')).status, 401)
})

/** Adds usage to the ledger. */
async function useOn(wallet: Address, at: number, credits: number, key: string): Promise<void> {
  const entry = { wallet, idempotency_key: key, credits: -credits, cause: 'usage', reason: '' }
  await insertEntries(opened.store, [entryRow(entry, at)])
}
