import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { createAccountLocks } from '../account-locks.ts'
import { Credits } from '../credits/credits.ts'
import { Ledger } from '../credits/ledger.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { leftOf } from '../testing/left-of.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { fund, startFeed } from '../testing/start-feed.ts'
import { memoryViews } from '../testing/view-source.ts'
import { readAttempts } from '../webhooks/deliveries.ts'
import { WebhookSecrets } from '../webhooks/signature.ts'
import { type HookChannel, Webhooks } from '../webhooks/webhooks.ts'
import { ALONE } from './hook-leases.ts'
import { HookPool } from './hook-pool.ts'
import { hookSources } from './hook-source.ts'
import { createReceivers } from './receiver.ts'

/* Webhooks (rule M1) from their table to a receiver, over real HTTP and a real feed. */

const logger = createLogger('silent')
const T = 1_790_000_000
const ALL = { wallets: [], mints: [] }
let opened: TestStore
test.before(async () => {
  opened = await openStore()
})
test.after.always(() => opened.remove())

interface Body {
  readonly type: string
  readonly data: { readonly messages?: readonly Record<string, unknown>[] }
}

/** A receiver whose answers the test chooses. */
async function startReceiver() {
  const bodies: Body[] = []
  const state = { status: 204, requests: 0 }
  let tell: () => void = () => {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (state.status < 300) bodies.push(JSON.parse(String(Buffer.concat(chunks))) as Body)
    state.requests++
    response.writeHead(state.status).end()
    tell()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const messages = () => bodies.flatMap(({ data }) => data.messages ?? [])
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    state,
    bodies,
    messages,
    /** Resolves when the condition holds, which is looked at after each request. */
    async until(condition: () => boolean) {
      while (!condition())
        await new Promise<void>((resolve) => {
          tell = resolve
        })
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

let accounts = 0
/** A feed, an account with credits, and pools that run its webhooks. */
async function startWorld() {
  const { store } = opened
  const account = `account ${++accounts}`
  const views = memoryViews()
  views.tick(T, [{ mint: JUP, event: 'entered' }])
  const service = await startFeed({ views: views.source })
  const { meter, feed, cursors } = service
  await fund(meter, account, 1000)
  const ledger = new Ledger({ store, meter })
  const credits = new Credits({ meter, ledger, logger })
  const webhooks = new Webhooks({ store, locks: createAccountLocks(null), now: Date.now })
  const receivers = createReceivers({ loopback: true })
  const secrets = new WebhookSecrets([Buffer.alloc(32, 1)])
  /** `ownStore`: the store of a process; by default it never fails. */
  const newPool = (ownStore: Store = store) =>
    new HookPool({
      store: ownStore,
      leases: ALONE,
      sources: hookSources(feed, cursors),
      receivers,
      secrets,
      credits,
      onAttempt() {},
      logger,
      now: Date.now,
    })
  return {
    account,
    service,
    views,
    webhooks,
    newPool,
    create: (
      url: string,
      more: { readonly channel?: HookChannel; readonly wallets?: number[] } = {},
    ) => webhooks.create(account, { url, channel: 'trades', after: '', ...ALL, ...more }),
    left: () => leftOf(meter, account),
    publish: (slot: number, ...records: Swap[]) =>
      service.log.appendSlot({ marker: aMarker(slot), records: records.sort(compareEventKeys) }),
    async close() {
      await receivers.close()
      await service.close()
    },
  }
}

const at = (slot: number, txIndex = 0, wallet = 1, baseMint = BONK) =>
  aSwap({ slot, txIndex, wallet, baseMint })
const dataOf = (swap: Swap) => tradeItem(served(swap))

test.serial(
  'each webhook gets its trades once and in order, one receiver that fails delays nobody, and a change holds at once',
  async (t) => {
    const world = await startWorld()
    const [receiver, other] = [await startReceiver(), await startReceiver()]
    other.state.status = 500
    const hook = await world.create(receiver.url, { wallets: [1] })
    const failing = await world.create(other.url)
    if (hook === null || failing === null) throw new Error('they are the first webhooks')
    const pool = world.newPool()
    await pool.tick()
    t.is(pool.size, 2)

    const swaps = [at(10, 0), at(10, 1, 2), at(11, 0), at(12, 0, 1, JUP)]
    await world.publish(10, ...swaps.slice(0, 2))
    await world.publish(11, ...swaps.slice(2, 3))
    await world.publish(12, ...swaps.slice(3))
    await receiver.until(() => receiver.messages().length === 3)
    const mine = [swaps[0]!, swaps[2]!, swaps[3]!]
    t.deepEqual(
      receiver.messages().map(({ data }) => data),
      mine.map(dataOf),
    )

    await world.webhooks.change(world.account, hook.id, { mints: [JUP] })
    await pool.tick()
    await world.publish(13, at(13, 0), at(13, 1, 1, JUP))
    await receiver.until(() => receiver.messages().length === 4)
    t.deepEqual(receiver.messages()[3]?.data, dataOf(at(13, 1, 1, JUP)))

    await world.webhooks.change(world.account, hook.id, { isActive: false, test: true })
    await pool.tick()
    await world.publish(14, at(14, 0, 1, JUP))
    await receiver.until(() => receiver.bodies.at(-1)?.type === 'test')
    await world.webhooks.delete(world.account, failing.id)
    await pool.tick()
    t.is(pool.size, 1)
    t.is(receiver.messages().length, 4, 'a paused webhook gets tests alone')
    await pool.stop()

    const attempts = await readAttempts(opened.store, hook.id, 100)
    t.deepEqual(
      attempts.map(({ kind, attempt, status, failure }) => [kind, attempt, status, failure]),
      attempts.map(({ kind }) => [kind, 1, 204, null]),
    )
    t.is(
      attempts.reduce((sum, { messages }) => sum + messages, 0),
      4,
    )
    const failed = await readAttempts(opened.store, failing.id, 100)
    t.true(failed.length > 0)
    t.true(failed.every(({ status, failure }) => status === 500 && failure === 'status'))
    receiver.close()
    other.close()
    await world.close()
  },
)

test.serial(
  'a process that ends in the middle of a delivery leaves it to the next one, which charges nothing again',
  async (t) => {
    const world = await startWorld()
    const receiver = await startReceiver()
    await world.create(receiver.url)
    receiver.state.status = 503
    /** A process whose writes are lost from some moment on, as if it were killed. */
    const life = { isOver: false }
    const dying: Store = {
      ...opened.store,
      insert: (...args) => (life.isOver ? new Promise(() => {}) : opened.store.insert(...args)),
    }
    const first = world.newPool(dying)
    await first.tick()
    await world.publish(10, at(10, 0), at(10, 1))
    await receiver.until(() => receiver.state.requests === 1)
    const left = await world.left()
    t.is(left, 998, 'the trades are charged before they are delivered')
    life.isOver = true
    receiver.state.status = 200
    const second = world.newPool()
    await second.tick()
    await world.publish(11, at(11, 0))
    await receiver.until(
      () => new Set(receiver.messages().map(({ trade_id }) => trade_id)).size === 3,
    )
    t.is(await world.left(), 997)
    await second.stop()
    receiver.close()
    await world.close()
  },
)

test.serial(
  'a webhook of a view gets changes of the list, free, as long as its owner has Pro',
  async (t) => {
    const world = await startWorld()
    const receiver = await startReceiver()
    const hook = await world.create(receiver.url, { channel: 'watchlist' })
    const pro = (expiresAt: number) => ({
      wallet: world.account,
      idempotency_key: `key ${expiresAt}`,
      plan: 'monthly',
      days: 30,
      amount: 1,
      redeemed_at: dateTime(Date.now()),
      expires_at: expiresAt,
      version: 1,
    })
    const pool = world.newPool()
    await pool.tick()
    await pool.stop()
    world.views.tick(T + 1, [{ mint: BONK, event: 'entered' }])
    await world.service.second()
    t.deepEqual(receiver.messages(), [], 'without Pro it waits')

    await opened.store.insert('subscriptions', [pro(Math.floor(Date.now() / 1000) + 1000)])
    const served = world.newPool()
    await served.tick()
    await receiver.until(() => receiver.messages().length >= 1)
    const names = receiver
      .messages()
      .map(({ event, snapshot, type, data }) => [
        event ?? (snapshot ? 'snapshot' : type),
        (data as { mint?: string } | undefined)?.mint,
      ])
    t.deepEqual(names, [['entered', BONK]])
    t.is(await world.left(), 1000)
    t.is((await world.webhooks.list(world.account))[0]?.id, hook?.id)
    await served.stop()
    receiver.close()
    await world.close()
  },
)
