import test from 'ava'
import { ask } from '../testing/ask.ts'
import { connectAgent, textOf } from '../testing/connect-agent.ts'
import { declaredResources } from '../testing/declared-resources.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { aPositionRow, aSwapRow, insertWallets, MINT } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Tools of agents (rule M2), with the client of the official SDK.
 */

let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 3)
  await opened.store.insert(
    'swaps',
    Array.from({ length: 5 }, (_, index) => aSwapRow(90 + index)),
  )
  await opened.store.insert('positions', [aPositionRow(1, MINT), aPositionRow(2, MINT)])
  api = await startApi(opened.store)
  await api.writer.moveTo(100)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

/** A call of each tool, with the path that answers the same over REST. */
const CALLS: readonly (readonly [tool: string, given: Record<string, unknown>, path: string])[] = [
  ['list_wallets', {}, '/wallets'],
  ['list_wallets', { sort: 'pnl', order: 'asc', page: 1 }, '/wallets?sort=pnl&order=asc&page=1'],
  ['get_wallet_metrics', { alias: 'W1' }, '/wallets/W1/metrics'],
  ['list_holdings', { alias: 'W2', page: null }, '/wallets/holdings?alias=W2'],
  ['get_wallet_holdings', { alias: 'W1' }, '/wallets/W1/holdings'],
  ['list_wallet_trades', { alias: 'W1', limit: 2 }, '/wallets/W1/trades?limit=2'],
  ['list_wallet_positions', { alias: 'W1', status: 'all' }, '/wallets/W1/positions?status=all'],
  ['get_wallet_pnl', { alias: 'W1', interval: '1h' }, '/wallets/W1/pnl?interval=1h'],
  ['get_token', { mint: MINT }, `/tokens/${MINT}`],
  ['list_token_swaps', { mint: MINT, limit: 3 }, `/tokens/${MINT}/swaps?limit=3`],
  ['list_token_wallets', { mint: MINT }, `/tokens/${MINT}/wallet-aggregates`],
  ['list_held_tokens', { min_wallets: 2 }, '/tokens/held?min_wallets=2'],
  ['list_trades', { side: 'buy', limit: 2 }, '/trades?side=buy&limit=2'],
  ['get_sol_price', {}, '/prices/sol'],
  ['search', { q: 'W1' }, '/search?q=W1'],
]

test('every tool answers what its resource answers, for the same credits', async (t) => {
  const { key, wallet } = await api.customer(1000)
  const agent = await connectAgent(api, key)
  let left = 1000
  for (const [tool, given, path] of CALLS) {
    const rest = await ask(api, path, key)
    const cost = Number(rest.headers.get('x-credits-cost'))
    t.is(rest.status, 200, path)
    t.true(cost > 0)
    left -= 2 * cost
    const result = await agent.call(tool, given)
    t.deepEqual(result.structuredContent, rest.body, tool)
    t.deepEqual(textOf(result), rest.body as object, tool)
    const { credits_cost, credits_remaining, head_cursor } = result._meta ?? {}
    t.deepEqual([credits_cost, credits_remaining], [cost, left], tool)
    t.is(head_cursor, rest.headers.get('x-head-cursor') ?? undefined, tool)
  }
  t.is(await api.credits.left(wallet), left)
  await agent.close()
})

test('the tool about the account is free, and answers as REST does', async (t) => {
  const { key } = await api.customer(7)
  const agent = await connectAgent(api, key)
  const result = await agent.call('get_account')
  t.deepEqual(result.structuredContent, (await ask(api, '/account', key)).body)
  t.is(result._meta?.credits_cost, 0)
  await agent.close()
})

test('every product resource has a tool, whose description says what a call costs', async (t) => {
  const { key } = await api.customer(1)
  const agent = await connectAgent(api, key)
  const priced = declaredResources().filter(({ price }) => price !== null)
  const ofResources = agent.tools.filter(({ name }) => name !== 'follow_trades')
  t.is(ofResources.length, priced.length)
  const called = [...new Set(CALLS.map(([tool]) => tool)), 'get_account']
  t.deepEqual(ofResources.map(({ name }) => name).sort(), called.sort())
  for (const [index, { price, docs }] of priced.entries()) {
    const tool = ofResources[index]
    t.is(tool?.title, docs.summary)
    const cost =
      price === 0 ? 'Free.' : `Costs ${price} ${price === 1 ? 'credit' : 'credits'} a call`
    t.true(tool?.description?.includes(cost))
    t.deepEqual(tool?.annotations, {
      title: docs.summary,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    })
  }
  t.deepEqual(agent.tools.find(({ name }) => name === 'list_wallet_trades')?.inputSchema, {
    type: 'object',
    properties: {
      alias: { type: 'string', description: 'Alias of a tracked wallet', examples: ['W1'] },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
      cursor: {
        type: 'string',
        format: 'cursor',
        description:
          'The `next_cursor` of the previous answer. Opaque; any other text is `invalid_cursor`.',
      },
    },
    required: ['alias'],
    additionalProperties: false,
  })
  await agent.close()
})

test('a refused call is a result that says what to do, and costs nothing', async (t) => {
  const { key } = await api.customer(2)
  const agent = await connectAgent(api, key)
  const refusals: readonly (readonly [string, object, string])[] = [
    ['list_trades', { limit: 101 }, '/trades?limit=101'],
    ['list_trades', { cursor: 'nonsense' }, '/trades?cursor=nonsense'],
    ['get_wallet_metrics', { alias: 'W99' }, '/wallets/W99/metrics'],
    ['get_token', { mint: 'nonsense' }, '/tokens/nonsense'],
    ['search', {}, '/search'],
    ['list_trades', {}, '/trades'],
  ]
  for (const [tool, given, path] of refusals) {
    const result = await agent.call(tool, { ...given })
    const rest = await ask(api, path, key)
    const { request_id, ...problem } = textOf(result)
    const { request_id: _, ...expected } = rest.body
    t.true(result.isError, tool)
    t.deepEqual(problem, expected as object, path)
    t.deepEqual(result._meta, {
      code: expected.code,
      credits_cost: 0,
      credits_remaining: 2,
      request_id,
    })
  }
  t.is(textOf(await agent.call('list_trades')).code, 'insufficient_credits')
  const errorsOf = async (tool: string, given: Record<string, unknown>) =>
    textOf(await agent.call(tool, given)).errors
  t.deepEqual(await errorsOf('get_wallet_metrics', {}), [
    { in: 'path', name: 'alias', message: 'expected a value' },
  ])
  t.deepEqual(await errorsOf('get_wallet_metrics', { alias: ['W1'], wallet: 1 }), [
    { in: 'query', name: 'alias', message: 'expected one value' },
    { in: 'query', name: 'wallet', message: 'this tool has no such argument; it has `alias`' },
  ])
  await agent.close()
})

test('a key without the scope read may list the tools, and read its account alone', async (t) => {
  const { key, wallet } = await api.customer(100)
  const token = await api.token(wallet)
  const made = await ask(api, '/me/keys', token, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'feed', scopes: ['feed'] }),
  })
  const agent = await connectAgent(api, String(made.body.api_key))
  const refused = await agent.call('list_wallets')
  t.deepEqual([refused.isError, refused._meta?.code], [true, 'scope_missing'])
  t.regex(String(textOf(refused).title), /scope read/)
  const { structuredContent } = await agent.call('get_account')
  t.deepEqual(structuredContent, (await ask(api, '/account', key)).body)
  await agent.close()
})

test('without a valid key nothing is answered', async (t) => {
  for (const bearer of ['tw_nonsense', 'nonsense'])
    await t.throwsAsync(connectAgent(api, bearer), { message: /unauthorized/ })
})

test('a session key calls tools as an API key does', async (t) => {
  const { wallet } = await api.customer(100)
  const token = await api.token(wallet)
  const { body } = await ask(api, '/me/session-key', token, { method: 'POST' })
  const agent = await connectAgent(api, String(body.session_key))
  const { structuredContent, _meta } = await agent.call('list_wallets')
  t.is((structuredContent as { items?: unknown[] } | undefined)?.items?.length, 3)
  t.is(_meta?.credits_remaining, 99)
  await agent.close()
})
