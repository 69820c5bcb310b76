import test from 'ava'
import type { Address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { createMemoryChannel } from '../channel/account-channel.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { ask } from '../testing/ask.ts'
import { connectAgent, textOf } from '../testing/connect-agent.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { connect } from '../testing/start-feed.ts'

/*
 * The tool `follow_trades` (rule M2), with the client of the official SDK. Where trades come from,
 * and that none comes twice, is in `stream/follow-trades.test.ts`.
 */

let opened: TestStore
let api: TestApi
const channel = createMemoryChannel()
let slot = 200

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 4)
  api = await startApi(opened.store, { channel })
  await api.writer.moveTo(slot)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

type Item = { readonly type?: string; readonly data: object; readonly trade_id: string }

async function append(...swaps: readonly Partial<Swap>[]): Promise<Swap[]> {
  const parent = slot++
  const records = swaps.map((swap, txIndex) => aSwap({ slot, txIndex, ...swap }))
  await api.log.appendSlot({ marker: aMarker(slot, parent), records })
  return records
}

/** An agent with credits that follows from now on. */
async function follower(credits: number, made?: { key: string; wallet: Address }) {
  const { key, wallet } = made ?? (await api.customer(credits))
  const agent = await connectAgent(api, key)
  let cursor: unknown
  const follow = async (given: Record<string, unknown> = {}) => {
    const result = await agent.call('follow_trades', {
      wait_seconds: 0,
      ...(cursor !== undefined && { cursor }),
      ...given,
    })
    cursor = result.structuredContent?.cursor ?? cursor
    return { result, items: (result.structuredContent?.items ?? []) as Item[] }
  }
  await follow()
  return { agent, key, wallet, follow }
}

const dataOf = (items: readonly Item[]) => items.map(({ data }) => data)
const itemsOf = (swaps: readonly Swap[]) => swaps.map((swap) => tradeItem(served(swap)) as object)

test.serial('consecutive calls get each trade once, oldest first, for a credit each', async (t) => {
  const { agent, follow } = await follower(100)
  const swaps = await append({}, { baseMint: JUP }, { wallet: 2 })
  const first = await follow({ limit: 2 })
  t.deepEqual(dataOf(first.items), itemsOf(swaps.slice(0, 2)))
  t.deepEqual(first.result._meta, {
    credits_cost: 2,
    credits_remaining: 98,
    request_id: first.result._meta?.request_id,
  })
  t.true(first.result.structuredContent?.has_more)
  const second = await follow({ limit: 2 })
  t.deepEqual(dataOf(second.items), itemsOf(swaps.slice(2)))
  const third = await follow()
  t.deepEqual([third.items, third.result._meta?.credits_cost], [[], 0])
  await agent.close()
})

test.serial('a call waits for the next trade that its filters want', async (t) => {
  const { agent, follow } = await follower(100)
  const waiting = follow({ wallets: ['W2', 'W3'], mints: [JUP], wait_seconds: 25 })
  await append({ wallet: 1, baseMint: JUP }, { wallet: 2, baseMint: BONK })
  const [wanted] = await append({ wallet: 3, baseMint: JUP })
  const { items } = await waiting
  t.deepEqual(dataOf(items), itemsOf([wanted!]))
  await agent.close()
})

test.serial(
  'a trade that was answered and then withdrawn is taken back, and its credit',
  async (t) => {
    const { agent, follow, wallet } = await follower(100)
    await append({}, {})
    const { items } = await follow()
    await api.log.appendWithdrawal({ slot, blockId: null, solPrice: null, rewind: null })
    // The fence of the log: what follows the withdrawal.
    const [next] = await append({})
    const taken = await follow({ limit: 1 })
    t.deepEqual(
      taken.items.map(({ type, trade_id }) => [type, trade_id]),
      items.map(({ trade_id }) => ['retracted', trade_id]),
    )
    t.is(taken.result._meta?.credits_cost, 0)
    t.deepEqual(dataOf((await follow()).items), itemsOf([next!]))
    await api.credits.stop() // books what is given back
    t.is(await api.credits.left(wallet), 99)
    api.credits.start()
    await agent.close()
  },
)

test.serial('no more is answered than the credits left pay for', async (t) => {
  const { agent, follow, wallet } = await follower(3)
  const swaps = await append({}, {}, {}, {})
  const { items, result } = await follow()
  t.deepEqual(dataOf(items), itemsOf(swaps.slice(0, 3)))
  t.deepEqual(
    [
      result._meta?.credits_cost,
      result._meta?.credits_remaining,
      result.structuredContent?.has_more,
    ],
    [3, 0, true],
  )
  const { result: broke } = await follow()
  t.deepEqual([broke.isError, broke._meta?.code], [true, 'insufficient_credits'])
  await api.accounts.adjust(wallet, 10, 'test', 'one')
  t.deepEqual(dataOf((await follow()).items), itemsOf(swaps.slice(3)))
  await agent.close()
})

test.serial('a wait ends with its key, and with a newer wait of the account', async (t) => {
  const { key: own, wallet } = await api.customer(100)
  const token = await api.token(wallet)
  const post = (path: string, body?: object) =>
    ask(api, path, token, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const named = await post('/me/keys', { name: 'feed', scopes: ['feed'] })
  const reader = await post('/me/keys', { name: 'read', scopes: ['read'] })
  const byName = await follower(0, { key: String(named.body.api_key), wallet })
  const withOwn = await follower(0, { key: own, wallet })
  const byReader = await connectAgent(api, String(reader.body.api_key))
  const outcome = async (call: ReturnType<typeof byName.follow>) => (await call).result._meta?.code

  const scope = await byReader.call('follow_trades', { wait_seconds: 25 })
  t.is(scope._meta?.code, 'scope_missing')

  const older = byName.follow({ wait_seconds: 25 })
  await registered(1)
  const newer = withOwn.follow({ wait_seconds: 25 })
  t.is(await outcome(older), 'rate_limited')
  t.is((await post('/me/api/rotate')).status, 200)
  t.is(await outcome(newer), 'unauthorized')

  const deleted = byName.follow({ wait_seconds: 25 })
  await registered(1)
  t.is((await ask(api, `/me/keys/${named.body.id}`, token, { method: 'DELETE' })).status, 204)
  t.is(await outcome(deleted), 'unauthorized')
  await Promise.all([byName.agent.close(), withOwn.agent.close(), byReader.close()])
})

test.serial(
  'a wait and a connection of the account do not end each other; a disabled account ends both',
  async (t) => {
    const { agent, key, wallet, follow } = await follower(100)
    const socket = await connect(`${api.url.replace('http', 'ws')}/ws`, key)
    const waiting = follow({ wait_seconds: 25 })
    await registered(2)
    const other = await connect(`${api.url.replace('http', 'ws')}/ws`, key)
    t.deepEqual(await socket.take(1), [{ type: 'superseded' }]) // by the other connection
    await other.subscribe()
    const [swap] = await append({})
    t.deepEqual(dataOf((await waiting).items), itemsOf([swap!]))
    t.deepEqual(dataOf((await other.take(1)) as Item[]), itemsOf([swap!]))

    const last = follow({ wait_seconds: 25 })
    await registered(2)
    await channel.accessChanged(wallet, true)
    t.is((await last).result._meta?.code, 'account_disabled')
    t.deepEqual(await other.take(1), [{ type: 'account_disabled' }])
    await agent.close()
  },
)

test.serial('arguments that are not allowed are named, and nothing is charged', async (t) => {
  const { agent, follow } = await follower(5)
  const refusal = async (given: Record<string, unknown>) => {
    const { result } = await follow(given)
    const { code, errors } = textOf(result)
    return [code, (errors as { name: string }[] | undefined)?.map(({ name }) => name)]
  }
  t.deepEqual(await refusal({ cursor: 'nonsense' }), ['invalid_cursor', ['cursor']])
  t.deepEqual(await refusal({ limit: 101 }), ['invalid_parameter', ['limit']])
  t.deepEqual(await refusal({ wait_seconds: 26 }), ['invalid_parameter', ['wait_seconds']])
  t.deepEqual(await refusal({ wallets: [] }), ['invalid_parameter', ['wallets']])
  t.deepEqual(await refusal({ mints: ['1'.repeat(44)] }), ['invalid_parameter', ['mints']])
  t.deepEqual(await refusal({ after: 'x' }), ['invalid_parameter', ['after']])
  t.deepEqual(await refusal({ wallets: ['W99'] }), ['wallet_not_found', undefined])
  await agent.close()
})

/** Resolves when so many waits count as connections of the feed. */
async function registered(count: number): Promise<void> {
  for (;;) {
    const { body } = await ask(api, '/status')
    if ((body.feed as { connections: number }).connections === count) return
  }
}
