import test from 'ava'
import type { Store } from '../pipeline/store/store.ts'
import { openStore, type TestStore } from './testing/open-stores.ts'
import { aPositionRow, aSwapRow, insertWallets, MINT } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

/*
 * Responses are cached until the storage marker moves, revalidated with 304 and compressed (rule
 * D8).
 */

let opened: TestStore
let store: Store
let api: TestApi
/** Queries of the store since the last look, except those of the storage position. */
let queries: string[] = []

test.before(async () => {
  opened = await openStore()
  store = opened.store
  await insertWallets(store, 30)
  await store.insert(
    'swaps',
    Array.from({ length: 30 }, (_, index) => aSwapRow(10 + index)),
  )
  api = await startApi({
    ...store,
    query(sql, params) {
      if (/FROM (swaps|wallet_metrics|positions)/.test(sql)) queries.push(sql)
      return store.query(sql, params)
    },
  })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

async function ask(path: string, key: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${api.url}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity', ...headers },
  })
  return {
    status: response.status,
    headers: response.headers,
    text: await response.text(),
    cost: response.headers.get('x-credits-cost'),
  }
}

const moveTo = (slot: number) => api.writer.moveTo(slot)

const PATHS = [
  ...['/wallets', '/wallets/W1/metrics', '/wallets/holdings', '/wallets/W1/holdings'],
  ...[`/tokens/${MINT}/swaps`, `/tokens/${MINT}/wallet-aggregates`, '/tokens/held', '/trades'],
  `/tokens/${MINT}`,
  ...['/wallets/W1/trades', '/trades?side=buy', '/prices/sol', '/search?q=W1'],
  ...['/wallets/W1/positions', '/wallets/W1/pnl', '/wallets?sort=pnl'],
]

test.serial('an answer about a token from before the first slot is not cached', async (t) => {
  const { key } = await api.customer(1000)
  const countSwaps = async () => JSON.parse((await ask(`/tokens/${MINT}/swaps`, key)).text).count
  t.is(await countSwaps(), 0)
  await moveTo(100)
  t.is(await countSwaps(), 30)
})

test.serial(
  'a client that has the answer gets 304, charged, until the storage marker moves',
  async (t) => {
    const { key } = await api.customer(1000)
    for (const path of PATHS) {
      const first = await ask(path, key)
      const etag = first.headers.get('etag') ?? ''
      t.regex(etag, /^W\/"[\w-]{12}"$/, path)
      const again = await ask(path, key, { 'if-none-match': etag })
      t.deepEqual([again.status, again.text.length, again.cost], [304, 0, first.cost], path)
      t.is(again.headers.get('etag'), etag)
      t.is(again.headers.get('x-head-cursor'), first.headers.get('x-head-cursor'))
      t.is(again.headers.get('content-type'), null)
      const listed = await ask(path, key, { 'if-none-match': `"x", ${etag.slice(2)}` })
      t.is(listed.status, 304, path)
      t.is((await ask(path, key, { 'if-none-match': '"x"' })).status, 200, path)
    }
    const before = await ask('/trades', key)
    await moveTo(101)
    const after = await ask('/trades', key, { 'if-none-match': before.headers.get('etag') ?? '' })
    t.is(after.status, 200)
    t.is(after.text, before.text)
    const refused = await ask('/wallets/W99/metrics', key, { 'if-none-match': '*' })
    t.deepEqual([refused.status, refused.headers.get('etag'), refused.cost], [404, null, '0'])
  },
)

test.serial('responses are compressed on request, with Vary', async (t) => {
  const { key } = await api.customer(1000)
  const plain = await ask('/trades', key)
  t.is(plain.headers.get('content-encoding'), null)
  t.is(plain.headers.get('vary'), 'Accept-Encoding')
  // fetch decompresses by itself, so the length on the wire is compared.
  for (const encoding of ['gzip', 'br']) {
    const answer = await ask('/trades', key, { 'accept-encoding': `${encoding}, identity;q=0.5` })
    t.is(answer.headers.get('content-encoding'), encoding)
    t.is(answer.text, plain.text)
    t.is(answer.headers.get('etag'), plain.headers.get('etag'))
    t.true(Number(answer.headers.get('content-length')) < plain.text.length / 5)
    t.is(
      (await ask('/trades', key, { 'accept-encoding': `${encoding};q=0` })).headers.get(
        'content-encoding',
      ),
      null,
    )
  }
  const small = await ask('/trades?limit=1', key, { 'accept-encoding': 'gzip' })
  t.is(small.headers.get('content-encoding'), null)
})

test.serial(
  'hot answers come from memory; those about a mint are read again when it changes',
  async (t) => {
    const { key } = await api.customer(10_000)
    const others = await api.customer(10_000)
    await moveTo(102)
    queries = []
    const hot = [
      '/wallets',
      '/wallets?page=2',
      '/wallets/W1/metrics',
      '/wallets/W30/metrics',
      '/trades',
      '/tokens/held',
    ]
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        ask(`${hot[n % hot.length]}`, n % 2 === 0 ? key : others.key),
      ),
    )
    t.true(answers.every(({ status }) => status === 200))
    await moveTo(103)
    await Promise.all(hot.map((path) => ask(path, key)))
    t.deepEqual(queries, [])
    queries = []
    const path = `/tokens/${MINT}/swaps`
    const first = await ask(path, key)
    await ask(path, others.key)
    await moveTo(104)
    const second = await ask(path, key)
    // Nothing of this mint has changed, so the response is valid under any marker.
    t.is(second.headers.get('etag'), first.headers.get('etag'))
    t.is(queries.filter((sql) => sql.includes('base_mint = {mint')).length, 0)
    await api.writer.insert('swaps', [aSwapRow(50)])
    await api.writer.insert('positions', [aPositionRow(1, MINT)])
    await moveTo(105)
    const third = await ask(path, key)
    t.is(JSON.parse(third.text).count, JSON.parse(first.text).count + 1)
  },
)
