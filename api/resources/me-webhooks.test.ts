import test from 'ava'
import type { Billing } from '../billing/billing.ts'
import { createCursorCodec } from '../cursor.ts'
import { encodeView, endOfTick } from '../stream/view-position.ts'
import { ask } from '../testing/ask.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets, MINT } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { storeAttempts } from '../webhooks/deliveries.ts'
import { NO_PROGRESS, storeHookProgress } from '../webhooks/hook-progress.ts'
import { WebhookSecrets } from '../webhooks/signature.ts'

/*
 * `/me/webhooks` over HTTP (rule M1). Deliveries are in `../webhooks`.
 */

const T = 1_790_000_000
const clock = { now: T * 1000 }
const RECEIVER = 'https://bot.example/trades'
const cursors = createCursorCodec(cursorKeys(7))
const CURSOR = cursors.encode('trades', { slot: 1, txIndex: 0, wallet: 1, eventIndex: 0 })
const VIEW_CURSOR = encodeView(cursors, endOfTick(T))
const withPro = new Set<string>()
let opened: TestStore
let api: TestApi
let secrets: WebhookSecrets

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 3)
  // The cast is safe: the API calls only `pro` here.
  const billing = {
    pro: async (wallet: string) => ({ active: withPro.has(wallet) }),
  } as unknown as Billing
  api = await startApi(opened.store, { now: () => clock.now, billing: () => billing })
  await api.writer.moveTo(1)
  secrets = new WebhookSecrets(api.config.secretKeys)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

/** A signed-in account, and its calls. */
async function anAccount(credits = 100) {
  const { wallet, key } = await api.customer(credits)
  const token = await api.token(wallet)
  const send = (method: string, path = '', body?: object) =>
    ask(api, `/me/webhooks${path}`, token, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const create = (terms: object = {}) => send('POST', '', { url: RECEIVER, ...terms })
  const refusal = async (asked: ReturnType<typeof send>) => {
    const { status, body } = await asked
    const errors = (body.errors ?? []) as { name: string; message: string }[]
    return [status, body.code, ...errors.map(({ name, message }) => `${name}: ${message}`)]
  }
  const events = async () => (await ask(api, '/me/events', token)).body.items
  return { wallet, key, token, send, create, refusal, events }
}

test('a webhook is created with its secret, which no other answer has, and is listed oldest first', async (t) => {
  const { send, create, events } = await anAccount()
  t.deepEqual((await send('GET')).body as object, { items: [] })
  const { status, headers, body } = await create()
  t.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
  const { secret, ...item } = body as Record<string, unknown>
  const id = String(item.id)
  t.deepEqual(item, {
    id,
    url: RECEIVER,
    channel: 'trades',
    wallets: null,
    mints: null,
    status: 'active',
    cursor: null,
    failing_since: null,
    created_at: T,
  })
  t.is(secret, secrets.secretOf({ id, rotations: 0, rotatedAt: null }))
  const filter = { wallets: ['W3', 'W1', 'W3'], mints: [MINT, MINT], after: CURSOR }
  const { secret: _, ...second } = (await create({ ...filter, unknown: 1 })).body
  t.deepEqual(
    { wallets: second.wallets, mints: second.mints },
    { wallets: ['W3', 'W1'], mints: [MINT] },
  )
  t.deepEqual((await send('GET')).body.items as object[], [item, second])
  t.false(JSON.stringify(await opened.store.query('SELECT * FROM webhooks')).includes('whsec_'))
  t.deepEqual(
    (await events()).map(({ kind }) => kind),
    ['webhook_created', 'webhook_created'],
  )
})

test('an account has at most 10 webhooks, whatever it creates at once; a deleted one makes room', async (t) => {
  const { send, create, refusal } = await anAccount()
  const made = await Promise.all(Array.from({ length: 12 }, () => create()))
  t.deepEqual(made.map(({ status }) => status).sort(), [...Array(10).fill(201), 409, 409])
  t.deepEqual(await refusal(create()), [409, 'too_many_webhooks'])
  const { items } = (await send('GET')).body
  t.is(new Set(items.map(({ id }) => id)).size, 10)
  const [gone] = items
  t.is((await send('DELETE', `/${gone?.id}`)).status, 204)
  t.deepEqual(await refusal(send('DELETE', `/${gone?.id}`)), [404, 'webhook_not_found'])
  const { status, body } = await create()
  t.is(status, 201)
  const left = (await send('GET')).body.items.map(({ id }) => id)
  t.deepEqual(
    [left.length, left.includes(body.id as never), left.includes(gone?.id as never)],
    [10, true, false],
  )
})

test('what a change does not name stays; null takes a filter away', async (t) => {
  const { send, create, refusal } = await anAccount()
  const { secret: _, ...made } = (await create({ wallets: ['W1'], mints: [MINT] })).body
  const change = async (body: object) => {
    const { status, body: answer } = await send('PATCH', `/${made.id}`, body)
    t.is(status, 200)
    return answer as object
  }
  t.deepEqual(await change({ unknown: 1 }), made)
  t.deepEqual(await change({ status: 'paused' }), { ...made, status: 'paused' })
  const url = 'https://other.example/'
  t.deepEqual(await change({ url, wallets: ['W2'] }), {
    ...made,
    url,
    wallets: ['W2'],
    status: 'paused',
  })
  const changed = { ...made, url, wallets: null, status: 'active' }
  t.deepEqual(await change({ wallets: null, status: 'active' }), changed)
  t.deepEqual((await send('GET')).body.items as object[], [changed])
  const refused = async (body: object) => refusal(send('PATCH', `/${made.id}`, body))
  t.deepEqual(await refused({ wallets: ['W4'] }), [404, 'wallet_not_found'])
  t.deepEqual((await refused({ status: 'gone' })).slice(0, 2), [400, 'invalid_parameter'])
  t.deepEqual((await refused({ url: 'http://bot.example/' })).slice(0, 2), [
    400,
    'invalid_parameter',
  ])
  t.deepEqual((await send('GET')).body.items as object[], [changed])
})

test('no account sees or changes a webhook of another one', async (t) => {
  const owner = await anAccount()
  const other = await anAccount()
  const { secret: _, ...made } = (await owner.create()).body
  const calls: readonly (readonly [string, string, object?])[] = [
    ['PATCH', '', { status: 'paused' }],
    ['PATCH', '', { wallets: ['W1'] }],
    ['DELETE', ''],
    ['POST', '/secret'],
    ['POST', '/replay', { cursor: CURSOR }],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ]
  for (const id of [made.id, 'x', '%F0%9F%92%B0'])
    for (const [method, path, body] of calls)
      t.deepEqual(await other.refusal(other.send(method, `/${id}${path}`, body)), [
        404,
        'webhook_not_found',
      ])
  t.deepEqual((await other.send('GET')).body.items, [])
  t.deepEqual(await other.events(), [])
  t.deepEqual((await owner.send('GET')).body.items as object[], [made])
  // An API key is no token.
  t.is((await ask(api, '/me/webhooks', owner.key)).status, 401)
})

test('a rotation answers with another secret; a replay needs a position of the channel; a test is asked for', async (t) => {
  const { wallet, send, create, refusal, events } = await anAccount()
  const { secret, ...made } = (await create()).body
  const rotated = (await send('POST', `/${made.id}/secret`)).body
  const next = secrets.secretOf({ id: String(made.id), rotations: 1, rotatedAt: clock.now })
  t.deepEqual(rotated as object, { ...made, secret: next })
  t.not(secret, next)
  const replay = (cursor: unknown) => send('POST', `/${made.id}/replay`, { cursor })
  t.deepEqual((await replay(CURSOR)).body as object, made)
  for (const cursor of ['', 'x', VIEW_CURSOR])
    t.deepEqual(await refusal(replay(cursor)), [
      400,
      'invalid_cursor',
      'cursor: expected a position of the channel trades',
    ])
  t.deepEqual((await refusal(replay(undefined))).slice(0, 2), [400, 'invalid_parameter'])
  t.deepEqual((await send('POST', `/${made.id}/test`)).body as object, made)
  const [row] = await opened.store.query(
    'SELECT rotations, replays, replay_after, tests FROM webhooks FINAL WHERE wallet = {wallet:String}',
    { wallet },
  )
  t.deepEqual(row, { rotations: 1, replays: 2, replay_after: CURSOR, tests: 1 })
  t.deepEqual((await events()).map(({ kind }) => kind).sort(), [
    'webhook_created',
    'webhook_secret_rotated',
  ])
})

test('a webhook shows how far it has got and why it waits; setting it active ends a pause of the service', async (t) => {
  const { send, create } = await anAccount()
  const { secret: _, ...made } = (await create()).body
  const id = String(made.id)
  const shown = async () => (await send('GET')).body.items[0] as object
  const failing = { after: CURSOR, state: 'failing', failingSince: T * 1000 } as const
  await storeHookProgress(opened.store, new Map([[id, { ...NO_PROGRESS, ...failing, version: 1 }]]))
  const waiting = { ...made, cursor: CURSOR, status: 'failing', failing_since: T }
  t.deepEqual(await shown(), waiting)
  await send('PATCH', `/${id}`, { status: 'paused' })
  t.deepEqual(await shown(), { ...waiting, status: 'paused' })
  await send('PATCH', `/${id}`, { status: 'active' })
  t.deepEqual(await shown(), { ...waiting, status: 'active' })
  // The role that delivers has taken it over, and its receiver has then answered 410.
  const gone = { ...NO_PROGRESS, after: CURSOR, activations: 1, state: 'gone', version: 2 } as const
  await storeHookProgress(opened.store, new Map([[id, gone]]))
  t.deepEqual(await shown(), { ...made, cursor: CURSOR, status: 'gone' })
})

test('the newest 100 deliveries are listed, newest first, with what failed', async (t) => {
  const { send, create } = await anAccount()
  const id = String((await create()).body.id)
  t.deepEqual((await send('GET', `/${id}/deliveries`)).body as object, { items: [] })
  const sent = (n: number) => ({
    id,
    attempt: {
      at: Date.now() - 1000 * n,
      delivery: `${id}.${n}`,
      kind: 'messages' as const,
      messages: 3,
      attempt: 1,
      status: 200,
      failure: null,
      retryAfterSeconds: null,
      latencyMs: 84,
    },
  })
  const attempts = Array.from({ length: 101 }, (_, n) => sent(n + 2))
  const first = sent(1)
  const failed = { ...first.attempt, status: 0, failure: 'no_answer', latencyMs: 10_000 } as const
  await storeAttempts(opened.store, [...attempts, { id, attempt: failed }])
  const { items } = (await send('GET', `/${id}/deliveries`)).body
  t.deepEqual(items.slice(0, 2) as object[], [
    {
      at: Math.floor(failed.at / 1000),
      id: `${id}.1`,
      kind: 'messages',
      messages: 3,
      attempt: 1,
      status: null,
      failure: 'no_answer',
      latency_ms: 10_000,
    },
    {
      at: Math.floor((attempts[0]?.attempt.at ?? 0) / 1000),
      id: `${id}.2`,
      kind: 'messages',
      messages: 3,
      attempt: 1,
      status: 200,
      failure: null,
      latency_ms: 84,
    },
  ])
  t.deepEqual(
    items.map((item) => item.id),
    Array.from({ length: 100 }, (_, n) => `${id}.${n + 1}`),
  )
})

test('a URL is that of a receiver on the public internet, without a user and without a fragment', async (t) => {
  const { send, create, refusal } = await anAccount()
  const place =
    'url: expected the https URL of a receiver on the public internet, without a user and #'
  const bad: readonly (readonly [unknown, string])[] = [
    ...[
      ...['http://bot.example/', 'bot.example', 'https://localhost/', 'https://bot.localhost/'],
      ...['https://a@bot.example/', 'https://a:b@bot.example/', 'https://bot.example/#a'],
      ...['https://10.0.0.1/', 'https://127.0.0.1/', 'https://169.254.169.254/', 'https://[::1]/'],
      ...['https://[::ffff:10.0.0.1]/', 'https://[fc00::1]/', 'https://2130706433/'],
    ].map((url) => [url, place] as const),
    [`https://bot.example/${'a'.repeat(1981)}`, 'url: expected at most 2,000 characters'],
  ]
  for (const [url, fault] of bad)
    t.deepEqual(await refusal(send('POST', '', { url })), [400, 'invalid_parameter', fault])
  t.deepEqual((await send('GET')).body.items, [])
  const good = ['https://bot.example:8443/a?b=c', 'https://[2606:4700::1111]/', 'https://1.1.1.1/']
  for (const url of [...good, `https://bot.example/${'a'.repeat(1980)}`])
    t.is((await create({ url })).body.url, url)
})

test('an account without credits gets a webhook of views alone, with Pro', async (t) => {
  const { wallet, create, refusal, send } = await anAccount(0)
  t.deepEqual(await refusal(create()), [402, 'insufficient_credits'])
  withPro.add(wallet)
  t.is((await create({ channel: 'watchlist' })).status, 201)
  t.is((await send('GET')).body.items.length, 1)
})

test('a filter names tracked wallets and token addresses, at most 100 of each', async (t) => {
  const { create, refusal } = await anAccount()
  const few = 'expected a list of 1 to 100'
  t.deepEqual(
    {
      unknown: await refusal(create({ wallets: ['W1', 'W4'] })),
      noAlias: await refusal(create({ wallets: ['W01'] })),
      tooLarge: await refusal(create({ wallets: ['W9999999999'] })),
      none: await refusal(create({ wallets: [], mints: [] })),
      many: await refusal(create({ wallets: Array(101).fill('W1') })),
      noMint: await refusal(create({ mints: ['1'.repeat(44)] })),
      cursor: await refusal(create({ after: VIEW_CURSOR })),
    },
    {
      unknown: [404, 'wallet_not_found'],
      noAlias: [404, 'wallet_not_found'],
      tooLarge: [404, 'wallet_not_found'],
      none: [400, 'invalid_parameter', `wallets: ${few}`, `mints: ${few}`],
      many: [400, 'invalid_parameter', `wallets: ${few}`],
      noMint: [400, 'invalid_parameter', 'mints: expected token addresses'],
      cursor: [400, 'invalid_cursor', 'after: expected a position of the channel trades'],
    },
  )
})

test('watchlist and signals need Pro, have positions of their own and no filter of wallets', async (t) => {
  const { wallet, send, create, refusal } = await anAccount()
  for (const channel of ['watchlist', 'signals'])
    t.deepEqual(await refusal(create({ channel })), [403, 'pro_required'])
  withPro.add(wallet)
  const terms = { channel: 'signals', mints: [MINT], after: VIEW_CURSOR }
  const { status, body } = await create(terms)
  t.deepEqual([status, body.channel, body.mints], [201, 'signals', [MINT]])
  const filter = [400, 'invalid_parameter', 'wallets: only the channel trades has this filter']
  const position = [400, 'invalid_cursor', 'after: expected a position of the channel watchlist']
  t.deepEqual(await refusal(create({ channel: 'signals', wallets: ['W1'] })), filter)
  t.deepEqual(await refusal(send('PATCH', `/${body.id}`, { wallets: ['W1'] })), filter)
  t.deepEqual(await refusal(create({ channel: 'watchlist', after: CURSOR })), position)
  t.is((await send('POST', `/${body.id}/replay`, { cursor: VIEW_CURSOR })).status, 200)
  t.deepEqual((await refusal(send('POST', `/${body.id}/replay`, { cursor: CURSOR }))).slice(0, 2), [
    400,
    'invalid_cursor',
  ])
})
