import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import bs58 from 'bs58'
import { WebSocket } from 'ws'
import type { Swap } from '../pipeline/domain/event.ts'
import { USDC } from '../pipeline/domain/quote.ts'
import { swapValueLamports } from '../pipeline/domain/swap-value.ts'
import { VERSION } from '../pipeline/runtime/version.ts'
import type { Store } from '../pipeline/store/store.ts'
import { aMarker } from '../pipeline/testing/a-marker.ts'
import { aSwap, BONK, JUP } from './testing/a-swap.ts'
import { openStore, type TestStore } from './testing/open-stores.ts'
import { aSwapRow, insertWallets } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'
import { connect } from './testing/start-feed.ts'

let opened: TestStore
let store: Store
let api: TestApi
let slot = 1000

test.before(async () => {
  opened = await openStore()
  store = opened.store
  await insertWallets(store, 5)
  api = await startApi(store)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const socketUrl = () => `${api.url.replace('http', 'ws')}/ws`

/** A slot passes through the pipeline: over the log to the feed, and into the tables. */
async function seal(...swaps: Partial<Swap>[]): Promise<void> {
  slot++
  const marker = aMarker(slot)
  const records = swaps.map((swap, eventIndex) =>
    aSwap({ slot, eventIndex, blockTime: marker.blockTime, ...swap }),
  )
  await api.log.appendSlot({ marker, records })
  if (records.length > 0)
    await api.writer.insert(
      'swaps',
      records.map((swap) =>
        aSwapRow(slot, {
          tx_index: swap.txIndex,
          wallet: swap.wallet,
          event_index: swap.eventIndex,
          block_time: swap.blockTime,
          side: swap.side,
          program: swap.program,
          base_mint: swap.baseMint,
          base_amount: swap.baseAmount,
          base_decimals: swap.baseDecimals,
          quote_mint: swap.quoteMint,
          quote_amount: swap.quoteAmount,
          value_lamports: swapValueLamports(swap),
        }),
      ),
    )
  await api.writer.moveTo(slot)
}

async function get(path: string, key: string) {
  const response = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const body: unknown = await response.json()
  return { status: response.status, headers: response.headers, body: body as { items: unknown[] } }
}

async function stored(): Promise<void> {
  for (;;) {
    const status = (await get('/status', '')).body as unknown as { storage: { slot: number } }
    if (status.storage.slot === slot) return
    await pause(10)
  }
}

test.serial('the feed and GET /trades have the same trades, charged to one balance', async (t) => {
  const { key, wallet } = await api.customer(100)
  const client = await connect(socketUrl(), key)
  t.like(await client.subscribe(), { type: 'subscribed', wallets: null, mints: null })
  await seal({}, { wallet: 2, side: 'sell', quoteMint: USDC, quoteAmount: 7n })
  await seal({ wallet: 3, quoteMint: null, quoteAmount: 0n, baseMint: JUP })
  const messages = (await client.take(3)) as { id: string; data: unknown }[]
  await stored()
  const { body, headers } = await get('/trades', key)
  t.deepEqual(
    messages.map(({ data }) => data),
    [...body.items].reverse(),
  )
  t.is(headers.get('x-head-cursor'), messages[2]?.id ?? '')
  const older = await get(`/trades?cursor=${messages[1]?.id}`, key)
  t.deepEqual(older.body.items, [messages[0]?.data])
  await client.close()
  while ((await api.credits.left(wallet)) < 100 - 3 - 6) await pause(5)
  t.is(await api.credits.left(wallet), 100 - 3 - 6)
  while (await api.ledger.rollUp());
  t.deepEqual((await api.ledger.check()).mismatches, [])
})

test.serial(
  'a client that lists trades and follows from X-Head-Cursor misses and repeats nothing (rules D4, F4)',
  async (t) => {
    const { key } = await api.customer(1000)
    await seal({ program: 'listed' })
    await stored()
    const list = await get('/trades?limit=1', key)
    await seal({ program: 'missed' }, { program: 'missed', baseMint: JUP })
    const client = await connect(socketUrl(), key)
    const answer = await client.subscribe({ after: list.headers.get('x-head-cursor') })
    t.like(answer, { type: 'subscribed' })
    await seal({ program: 'live' })
    const messages = (await client.take(3)) as { data: { program: string; mint: string } }[]
    t.deepEqual(
      messages.map(({ data }) => [data.program, data.mint]),
      [
        ['missed', BONK],
        ['missed', JUP],
        ['live', BONK],
      ],
    )
    await client.close()
  },
)

test.serial(
  'a browser sends its key in the subprotocol; a refusal comes before the upgrade (rule F1)',
  async (t) => {
    const { key } = await api.customer(2)
    const browser = new WebSocket(socketUrl(), ['bearer', key])
    await once(browser, 'open')
    t.is(browser.protocol, 'bearer')
    browser.close()
    const { key: poor } = await api.customer(0)
    const refusals: [string | undefined, number][] = [
      [undefined, 401],
      [`${key}x`, 401],
      [poor, 402],
    ]
    for (const [bearer, expected] of refusals) {
      const socket = new WebSocket(socketUrl(), {
        headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
      })
      const [, response] = await once(socket, 'unexpected-response')
      t.is(response.statusCode, expected)
      t.is(response.headers['content-type'], 'application/problem+json')
      response.destroy()
    }
    const notThere = new WebSocket(`${socketUrl()}x`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const [, response] = await once(notThere, 'unexpected-response')
    t.is(response.statusCode, 404)
    response.destroy()
  },
)

test.serial('a filter by an untracked wallet is refused', async (t) => {
  const { key } = await api.customer(5)
  const client = await connect(socketUrl(), key)
  t.like(await client.subscribe({ wallets: ['W6'] }), { type: 'error', code: 'wallet_not_found' })
  t.like(await client.subscribe({ wallets: ['W5'] }), { type: 'subscribed', wallets: ['W5'] })
  await client.close()
})

test.serial(
  'after the first slot the service is ready, and reports its progress (rule J4)',
  async (t) => {
    await seal()
    await stored()
    const { key } = await api.customer(5)
    const client = await connect(socketUrl(), key)
    t.deepEqual((await get('/readyz', '')).body as unknown, { ready: true })
    const { lag_seconds, ...status } = (await get('/status', '')).body as unknown as Record<
      string,
      unknown
    >
    t.deepEqual(status, {
      version: VERSION,
      ingest: { slot, block_time: aMarker(slot).blockTime },
      finalized: { slot: null },
      storage: { slot, block_time: 1_700_000_000 + slot },
      metrics: { slot },
      feed: { slot, connections: 1 },
      audit: { open_breaks: 0, unexplained_breaks: 0 },
    })
    t.true(Number.isInteger(lag_seconds))
    await client.close()
  },
)

test.serial(
  'a stop asks feed clients to reconnect, refunds their reserved credits and rolls up their use (rules F7, J5)',
  async (t) => {
    const going = await startApi(store)
    const { key, wallet } = await going.customer(50)
    const client = await connect(`${going.url.replace('http', 'ws')}/ws`, key)
    await client.subscribe()
    await going.log.appendSlot({ marker: aMarker(2000, slot), records: [aSwap({ slot: 2000 })] })
    t.like((await client.take(1))[0], { channel: 'trades' })
    await fetch(`${going.url}/wallets`, { headers: { authorization: `Bearer ${key}` } })
    await going.close()
    t.deepEqual(await client.take(1), [{ type: 'restarting' }])
    t.is(await client.closed, 1012)
    await t.throwsAsync(fetch(`${going.url}/healthz`))
    // Another process knows the balance from the ledger only.
    t.is(await api.credits.left(wallet), 48)
  },
)

test('a store that hangs is 503 like one that is down, and the call costs nothing', async (t) => {
  let hangs: Promise<unknown> = Promise.resolve()
  let goOn = () => {}
  const hanging: Store = {
    ...store,
    query: (sql, params) => hangs.then(() => store.query(sql, params)),
  }
  await seal() // with an empty storage there would be no query
  const own = await startApi(hanging, { readMs: 1500 })
  t.teardown(async () => {
    goOn()
    await own.close()
  })
  const known = await own.customer(10)
  const unknown = await own.customer(10)
  let requests = 0
  const ask = async (key: string) => {
    requests += 1
    const mint = bs58.encode(Buffer.alloc(32, requests)) // nothing of it is cached
    const headers = { authorization: `Bearer ${key}` }
    const { status, headers: sent } = await fetch(`${own.url}/tokens/${mint}/swaps`, { headers })
    return [status, sent.get('x-credits-cost'), sent.get('x-credits-remaining')]
  }
  t.deepEqual(await ask(known.key), [200, '3', '7'])
  hangs = new Promise<void>((resolve) => {
    goOn = resolve
  })
  t.deepEqual(await ask(known.key), [503, '0', '7'])
  t.deepEqual(await ask(unknown.key), [503, '0', null])
  goOn()
  t.deepEqual(await ask(known.key), [200, '3', '4'])
})
