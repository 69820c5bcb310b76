import test from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../../pipeline/domain/address.ts'
import { type AccountListener, createMemoryChannel } from '../channel/account-channel.ts'
import type { Viewer } from '../middleware/upgrade.ts'
import { BONK, JUP } from '../testing/a-swap.ts'
import { type FeedClient, fund, startFeed } from '../testing/start-feed.ts'
import { memoryViews, type ViewChange } from '../testing/view-source.ts'
import { encodeView, endOfTick, startOfSnapshot, type ViewPosition } from './view-position.ts'

/*
 * The channels `watchlist` and `signals`, as dashboards see them (rule F1, G). How they are read
 * from the store is in `view-rows.test.ts`.
 */

type Service = Awaited<ReturnType<typeof startFeed>>
interface Told {
  readonly id: string
  readonly channel: string
  readonly event?: string
  readonly snapshot?: true
  readonly data: { readonly mint: string; readonly age_seconds?: number }
}

const T = 1_790_000_000
const BOTH = { channels: ['watchlist', 'signals'] }
const cursor = ({ cursors }: Service, position: ViewPosition) => encodeView(cursors, position)
/**
 * Advances the services by one second, until each has published the newest tick. One that has reads
 * in its queue would otherwise still read an earlier tick when the next second comes.
 */
const passes = async (...services: Service[]) => {
  await Promise.all(services.map((service) => service.second()))
  await new Promise((resolve) => setImmediate(resolve))
}
const short = (message: unknown) => {
  const { channel, event, snapshot, data } = message as Told
  const how = event ?? (snapshot ? 'snapshot' : 'fired')
  return `${channel} ${how} ${data.mint === BONK ? 'BONK' : 'JUP'} ${data.age_seconds ?? ''}`.trim()
}
const takeShort = async (client: FeedClient, count: number) => (await client.take(count)).map(short)

test('a subscriber gets a snapshot of the watchlist and the newest signals, then each change once, free (rule F1)', async (t) => {
  const views = memoryViews()
  views.tick(T, [{ mint: JUP, event: 'entered' }])
  views.tick(T + 10, [
    { mint: BONK, event: 'entered' },
    { mint: BONK, event: 'fired' },
  ])
  const service = await startFeed({ views: views.source })
  const client = await service.connect('dashboard:alice')
  t.deepEqual(await client.fence(), [], 'nothing is sent before a subscription')
  t.deepEqual(await client.subscribe(BOTH), {
    type: 'subscribed',
    ...BOTH,
    wallets: null,
    mints: null,
    cursor: cursor(service, startOfSnapshot(T + 10)),
  })
  const snapshot = (await client.take(3)) as Told[]
  t.deepEqual(snapshot.map(short), [
    `watchlist snapshot BONK ${T + 10}`,
    `watchlist snapshot JUP ${T + 10}`,
    'signals snapshot BONK',
  ])
  const ids = [1, 2, 3].map((index) => cursor(service, { at: T + 10, part: 'snapshot', index }))
  t.deepEqual(
    snapshot.map(({ id }) => id),
    ids,
  )
  const complete = { type: 'snapshot_complete', cursor: cursor(service, endOfTick(T + 10)) }
  t.deepEqual(await client.take(1), [complete])

  views.tick(T + 20, [
    { mint: BONK, event: 'left' },
    { mint: JUP, event: 'changed' },
    { mint: JUP, event: 'fired' },
  ])
  await passes(service)
  const left = {
    channel: 'watchlist',
    id: cursor(service, { at: T + 20, part: 'changes', index: 1 }),
    event: 'left',
    data: { mint: BONK, symbol: 'A', name: 'B' },
  }
  t.deepEqual(await client.take(1), [left])
  t.deepEqual(await takeShort(client, 2), [`watchlist changed JUP ${T + 20}`, 'signals fired JUP'])

  // A new subscription replaces the previous one. This one resumes within the snapshot.
  await client.subscribe({ ...BOTH, mints: [BONK], after: ids[0] })
  t.deepEqual(await takeShort(client, 1), ['signals snapshot BONK'])
  t.deepEqual(await client.take(2), [complete, left])
  client.send({ action: 'unsubscribe', channels: ['watchlist'] })
  t.deepEqual(await client.take(1), [{ type: 'unsubscribed', channels: ['watchlist'] }])
  views.tick(T + 30, [
    { mint: BONK, event: 'entered' },
    { mint: BONK, event: 'fired' },
    { mint: JUP, event: 'fired' },
  ])
  await passes(service)
  t.deepEqual(await takeShort(client, 1), ['signals fired BONK'])
  t.deepEqual(await client.fence(), [])
  await client.close()
  await service.close()
})

test('a subscription before the first tick waits for it; without subscribers no tick is read', async (t) => {
  const views = memoryViews()
  const service = await startFeed({ views: views.source })
  const client = await service.connect('dashboard:alice')
  await client.subscribe(BOTH)
  await passes(service)
  t.deepEqual(await client.fence(), [])
  views.tick(T, [{ mint: JUP, event: 'entered' }])
  await passes(service)
  t.deepEqual(await takeShort(client, 1), [`watchlist snapshot JUP ${T}`])
  t.is((await client.take(1)).length, 1)
  await client.close()
  while (service.feed.connections() > 0) await passes(service)
  const { reads } = views.state
  views.tick(T + 10, [{ mint: JUP, event: 'changed' }])
  await passes(service)
  t.is(views.state.reads, reads)
  // Failed reads are retried.
  views.state.failures = 2
  const other = await service.connect('dashboard:alice')
  await other.subscribe({ channels: ['watchlist'] })
  t.deepEqual(await takeShort(other, 1), [`watchlist snapshot JUP ${T + 10}`])
  await service.close()
})

const aStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      later: fc.constantFrom(10, 10, 10, 30, 100, 3000),
      // For each mint: its event on the watchlist, if any, and whether a strategy fires.
      mints: fc.tuple(...Array.from({ length: 5 }, () => fc.tuple(fc.nat(2), fc.nat(3)))),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('cut' as const),
      /** Percentage of the available messages that the client reads. */
      taken: fc.integer({ min: 0, max: 100 }),
    }),
  },
)
const MINTS = [1, 2, 3, 4, 5].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))

test('a dashboard that reconnects at any message to any process gets each message once, in order, without a gap', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aStep, { maxLength: 25 }),
      fc.constantFrom(['watchlist'], ['signals'], ['watchlist', 'signals']),
      fc.constantFrom(null, MINTS.slice(0, 2) as string[]),
      async (steps, channels, mints) => {
        const views = memoryViews()
        const listed = new Set<string>()
        let at = T
        /** How many messages there are from the first snapshot on. */
        let due: number
        const isWanted = ({ mint, event }: ViewChange) =>
          (channels as readonly string[]).includes(event === 'fired' ? 'signals' : 'watchlist') &&
          (mints === null || mints.includes(mint))
        const tick = (choices: readonly (readonly [number, number])[]) => {
          const changes = choices.flatMap(([event, fires], n): ViewChange[] => {
            const mint = MINTS[n] ?? ''
            const happened = listed.has(mint)
              ? (['changed', 'left'] as const)
              : ['entered' as const]
            const own = event === 0 ? [] : [{ mint, event: happened[event - 1] ?? 'entered' }]
            for (const { event } of own) event === 'left' ? listed.delete(mint) : listed.add(mint)
            return [...own, ...(fires === 0 ? [{ mint, event: 'fired' as const }] : [])]
          })
          views.tick(at, changes)
          return changes.filter(isWanted).length
        }
        // The first tick is the snapshot: it lists two mints, and a strategy fires for both.
        const both = [1, 0] as const
        due = tick([both, both])

        const services = await Promise.all([0, 1].map(() => startFeed({ views: views.source })))
        const want = { channels, ...(mints && { mints }) }
        const whole = await services[0]!.connect('dashboard:whole')
        await whole.subscribe(want)
        const got: { id: string }[] = []
        let turns = 0
        let client = await services[1]!.connect('dashboard:cut')
        const { cursor: start } = (await client.subscribe(want)) as { cursor: string }
        let after = start
        const note = (messages: unknown[]) => {
          for (const message of messages as ({ id: string } & {
            type?: string
            cursor: string
          })[]) {
            if (message.type === undefined) got.push(message)
            after = message.type === undefined ? message.id : message.cursor
          }
        }
        for (const step of steps) {
          if (step.kind === 'tick') {
            at += step.later
            due += tick(step.mints)
            await passes(...services)
            continue
          }
          const count = Math.round((step.taken / 100) * (due - got.length))
          const wanted = got.length + count
          while (got.length < wanted) note(await client.take(1))
          await client.close()
          client = await services[++turns % 2]!.connect('dashboard:cut')
          await client.subscribe({ ...want, after })
        }
        while (got.length < due) note(await client.take(1))
        const all: unknown[] = []
        while (all.length < due) {
          const [message] = (await whole.take(1)) as { type?: string }[]
          if (message?.type === undefined) all.push(message)
        }
        t.deepEqual(got, all as never)
        const rest = [...(await client.fence()), ...(await whole.fence())]
        t.deepEqual(
          rest.filter((message) => (message as { type?: string }).type !== 'snapshot_complete'),
          [],
        )
        await Promise.all(services.map((service) => service.close()))
      },
    ),
    { numRuns: 25 },
  )
})

test('a dashboard that resumes after the retention gets a gap and a new snapshot; one ahead of this process waits (rule F4)', async (t) => {
  const views = memoryViews()
  const ahead = memoryViews()
  for (const all of [views, ahead]) all.tick(T, [{ mint: JUP, event: 'entered' }])
  const service = await startFeed({ views: views.source, retentionHours: 24 })
  const other = await startFeed({ views: ahead.source })
  const day = T + 24 * 3600
  const positions = [
    startOfSnapshot(T),
    endOfTick(T),
    { at: T, part: 'changes', index: 1 } as const,
  ]
  views.tick(day, [{ mint: BONK, event: 'entered' }])
  await passes(service)
  const client = await service.connect('dashboard:alice')
  await client.subscribe({ ...BOTH, after: cursor(service, positions[1]!) })
  t.deepEqual(await takeShort(client, 1), [`watchlist entered BONK ${day}`], 'just in time')

  views.tick(day + 10)
  await passes(service)
  for (const position of positions) {
    await client.subscribe({ ...BOTH, after: cursor(service, position) })
    const oldest = cursor(service, startOfSnapshot(day + 10))
    t.deepEqual(await client.take(1), [{ type: 'gap', oldest }])
    t.deepEqual(await takeShort(client, 2), [
      `watchlist snapshot BONK ${day + 10}`,
      `watchlist snapshot JUP ${day + 10}`,
    ])
    t.is((await client.take(1)).length, 1)
  }

  const late = await other.connect('dashboard:alice')
  const ends = [{ at: T + 10, part: 'changes', index: 1 } as const, endOfTick(T + 10)]
  const [inTick, afterTick] = ends.map((position) => cursor(other, position))
  await late.subscribe({ ...BOTH, after: afterTick })
  const later = await startFeed({ views: ahead.source })
  const last = await later.connect('dashboard:alice')
  await last.subscribe({ ...BOTH, after: inTick })
  ahead.tick(T + 5)
  await passes(other, later)
  for (const client of [late, last]) t.deepEqual(await client.fence(), [])
  ahead.tick(T + 10, [
    { mint: BONK, event: 'entered' },
    { mint: JUP, event: 'changed' },
  ])
  await passes(other, later)
  t.deepEqual(await takeShort(last, 1), [`watchlist changed JUP ${T + 10}`])
  ahead.tick(T + 20, [{ mint: BONK, event: 'left' }])
  await passes(other, later)
  for (const client of [late, last])
    t.deepEqual(await takeShort(client, 1), ['watchlist left BONK'])
  await later.close()
  await Promise.all([service.close(), other.close()])
})

test('a bad message gets its code, three in a row end the connection; keys and tokens have different channels (rules F1, F2)', async (t) => {
  const views = memoryViews()
  const service = await startFeed({ views: views.source })
  const client = await service.connect('dashboard:alice')
  const subscribe = { action: 'subscribe', ...BOTH }
  const trade = { slot: 1, txIndex: 0, wallet: 1, eventIndex: 0 }
  const cases: [object, string][] = [
    [{ ...subscribe, channels: ['trades'] }, 'pro_required'],
    [{ ...subscribe, channels: ['watchlist', 'trades'] }, 'pro_required'],
    [{ action: 'unsubscribe', channels: ['trades'] }, 'pro_required'],
    [{ ...subscribe, channels: ['watch'] }, 'invalid_channel'],
    [{ ...subscribe, wallets: ['W1'] }, 'invalid_parameter'],
    [{ ...subscribe, wallets: [] }, 'invalid_parameter'],
    [{ ...subscribe, mints: ['x'] }, 'invalid_parameter'],
    [{ ...subscribe, after: service.cursors.encode('trades', trade) }, 'invalid_cursor'],
    [
      { ...subscribe, after: service.cursors.encode('views', { ...trade, txIndex: 3 }) },
      'invalid_cursor',
    ],
  ]
  for (const [sent, code] of cases) {
    client.send(sent)
    t.like((await client.take(1))[0], { type: 'error', code }, JSON.stringify(sent))
    t.deepEqual(await client.fence(), [])
  }
  for (const [sent] of cases.slice(0, 3)) client.send(sent)
  t.is((await client.take(4)).length, 3)
  t.is(await client.closed, 1008)

  // A client with an API key cannot resume from a position of the dashboard's views.
  await fund(service.meter, 'alice', 10)
  const trader = await service.connect('alice')
  t.like(await trader.subscribe({ after: cursor(service, endOfTick(T)) }), {
    code: 'invalid_cursor',
  })
  t.like(await trader.subscribe(BOTH), { code: 'pro_required' })
  await service.close()
})

test('a connection ends with its token and with Pro, to the second by the wall clock, unless Pro was prolonged (rules E2, E6)', async (t) => {
  const views = memoryViews()
  views.tick(T)
  let now = T * 1000
  let atLook = () => {}
  const source = {
    ...views.source,
    newestTick() {
      atLook()
      return views.source.newestTick()
    },
  }
  const viewers: Readonly<Record<string, Partial<Viewer>>> = {
    token: { expiresAt: T + 100 },
    pro: { proUntil: T + 100 },
    unknown: { proUntil: T + 100, readProUntil: () => Promise.reject(new Error('down')) },
    prolonged: { proUntil: T + 100, readProUntil: async () => T + 1000 },
    asking: { expiresAt: T + 1000 },
  }
  const service = await startFeed({
    views: source,
    now: () => now,
    viewer: (wallet) => viewers[wallet] ?? {},
  })
  const names = ['token', 'pro', 'unknown', 'prolonged']
  const clients = await Promise.all(names.map((name) => service.connect(`dashboard:${name}`)))
  for (const client of clients) {
    await client.subscribe(BOTH)
    await client.take(1)
  }
  now += 99_999
  await passes(service)
  for (const client of clients) t.deepEqual(await client.fence(), [])
  now += 1
  views.tick(T + 10, [{ mint: JUP, event: 'entered' }])
  await passes(service)
  const [token, pro, unknown, prolonged] = clients
  t.deepEqual(await token!.take(2), [{ type: 'token_expired' }])
  t.deepEqual(await pro!.take(2), [{ type: 'pro_expired' }])
  t.deepEqual(await unknown!.take(2), [{ type: 'pro_expired' }])
  t.deepEqual(await takeShort(prolonged!, 1), [`watchlist entered JUP ${T + 10}`])
  for (const client of [token, pro, unknown]) t.is(await client!.closed, 1008)
  // After access has ended, nothing is sent, even before the next periodic check.
  const asking = await service.connect('dashboard:asking')
  now = (T + 1000) * 1000 - 1
  atLook = () => {
    now += 1
  }
  views.tick(T + 20, [{ mint: JUP, event: 'changed' }])
  await passes(service)
  t.deepEqual(await prolonged!.take(2), [{ type: 'pro_expired' }])
  asking.send({ action: 'ping' })
  t.deepEqual(await asking.take(2), [{ type: 'token_expired' }])
  await service.close()
})

test('a connection ends when its token is revoked, also when the event was lost', async (t) => {
  const revoked = new Set<string>()
  const service = await startFeed({
    views: memoryViews().source,
    connectionsPerKey: 9,
    viewer: (wallet) => ({ isRevoked: async () => revoked.has(wallet) }),
  })
  const heard = await service.connect('dashboard:heard')
  const unheard = await service.connect('dashboard:unheard')
  const stays = await service.connect('dashboard:stays')
  await service.channel.loggedOut('heard')
  t.deepEqual(await heard.take(2), [{ type: 'token_revoked' }])
  t.is(await heard.closed, 1008)
  revoked.add('unheard')
  revoked.add('already')
  service.beat()
  t.deepEqual(await unheard.take(2), [{ type: 'token_revoked' }])
  const already = await service.connect('dashboard:already')
  t.deepEqual(await already.take(2), [{ type: 'token_revoked' }])
  t.deepEqual(await stays.fence(), [])
  await service.close()
})

test('connections of a disabled account end, also when the announcement was missed (rule E3)', async (t) => {
  const channel = createMemoryChannel()
  const heard: AccountListener[] = []
  let disabledAt = 0
  const service = await startFeed({
    channel: {
      ...channel,
      listen(listener) {
        heard.push(listener)
        channel.listen(listener)
      },
    },
    revokedSince: async () => [{ account: 'carol', at: disabledAt, why: 'account_disabled' }],
  })
  const accounts = ['alice', 'bob', 'carol']
  for (const account of accounts) await fund(service.meter, account, 10)
  const names = accounts.flatMap((account) => [account, `dashboard:${account}`])
  const clients = await Promise.all(names.map((name) => service.connect(name)))
  const [alice, alicesDashboard, bob, bobsDashboard, carol, carolsDashboard] = clients
  const end = [{ type: 'account_disabled' }]
  await channel.accessChanged('alice', true)
  await channel.accessChanged('bob', false)
  for (const client of [alice, alicesDashboard]) {
    t.deepEqual(await client!.take(2), end)
    t.is(await client!.closed, 1008)
  }
  disabledAt = Date.now() + 1
  for (const listener of heard) listener.onBack(disabledAt)
  for (const client of [carol, carolsDashboard]) t.deepEqual(await client!.take(2), end)
  for (const client of [bob, bobsDashboard]) t.deepEqual(await client!.fence(), [])
  await service.close()
})

test('a connection whose key was rotated unheard ends once that can be read; who came with the new key stays', async (t) => {
  const heard: AccountListener[] = []
  const channel = {
    ...createMemoryChannel(),
    listen: (news: AccountListener) => void heard.push(news),
  }
  const reads: number[] = []
  let isAway = true
  let at = 0
  const service = await startFeed({
    channel,
    async revokedSince(since) {
      reads.push(since)
      if (isAway) throw new Error('away')
      return [{ account: 'alice', at, why: 'key_rotated' }]
    },
  })
  const accounts = ['alice', 'bob']
  for (const account of accounts) await fund(service.meter, account, 10)
  const [old, other] = await Promise.all(accounts.map((account) => service.connect(account)))
  at = Date.now() + 1
  for (const news of heard) news.onBack(at)
  await passes(service)
  t.deepEqual(await old!.fence(), [])
  isAway = false
  await passes(service)
  t.deepEqual(await old!.take(2), [{ type: 'key_rotated' }])
  t.is(await old!.closed, 1008)
  t.deepEqual(await other!.fence(), [])
  at = 0 // before anybody came
  for (const news of heard) news.onBack(at)
  await passes(service, service)
  t.deepEqual(await other!.fence(), [])
  // The lookup was retried with the same time until it succeeded, and not repeated afterwards.
  t.is(reads.length, 3)
  t.is(reads[0], reads[1])
  await service.close()
})

test('a named key and a session end their trade connections, heard or not (rules L15, L16)', async (t) => {
  const heard: AccountListener[] = []
  const channel = {
    ...createMemoryChannel(),
    listen: (news: AccountListener) => void heard.push(news),
  }
  let now = 1000
  let isRevoked = false
  const left = new Set(['named:old', 'named:kept', 'named:brief'])
  const service = await startFeed({
    channel,
    connectionsPerKey: 10,
    now: () => now,
    keyOf(bearer) {
      const account = 'alice'
      if (bearer === 'own') return { account, kind: 'own' }
      if (bearer === 'session')
        return {
          account,
          kind: 'session',
          tokenId: 'a token',
          generation: 1,
          expiresAtMs: 9000,
          isRevoked: async () => isRevoked,
        }
      const expiresAtMs = bearer === 'named:brief' ? 5000 : null
      return { account, kind: 'named', sha256: bearer, expiresAtMs }
    },
    findNamedKeys: async (_wallets, sha256s) =>
      new Map(sha256s.filter((one) => left.has(one)).map((one) => [one, one])),
  })
  t.teardown(() => service.close())
  await fund(service.meter, 'alice', 100)
  const [own, old, kept, brief] = await Promise.all(
    ['own', 'named:old', 'named:kept', 'named:brief'].map((one) => service.connect(one)),
  )
  const session = await service.connect('session')
  const all = [own, old, kept, brief, session]

  now = 4999
  await service.second()
  for (const client of all) t.deepEqual(await client!.fence(), [])
  now = 5000
  await service.second()
  t.deepEqual(await brief!.take(1), [{ type: 'key_expired' }])
  t.is(await brief!.closed, 1008)

  // A deletion that was not heard ends the connection after the outage, and no other one.
  left.delete('named:old')
  for (const news of heard) news.onBack(now)
  t.deepEqual(await old!.take(1), [{ type: 'key_deleted' }])
  for (const client of [own, kept, session]) t.deepEqual(await client!.fence(), [])

  // A rotation ends those of the own key alone, a logout of another session none.
  for (const news of heard) {
    news.onRotated('alice', 'hash')
    news.onLoggedOut('another token')
    news.onLoggedOutEverywhere('alice', 1)
    news.onLoggedOutEverywhere('bob', 2)
    news.onKeyDeleted('alice', 'named:another')
  }
  t.deepEqual(await own!.take(1), [{ type: 'key_rotated' }])
  for (const client of [kept, session]) t.deepEqual(await client!.fence(), [])
  isRevoked = true
  service.beat()
  t.deepEqual(await session.take(1), [{ type: 'token_revoked' }])
  isRevoked = false

  const next = await service.connect('session')
  for (const news of heard) news.onLoggedOutEverywhere('alice', 2)
  t.deepEqual(await next.take(1), [{ type: 'token_revoked' }])
  const last = await service.connect('session')
  now = 9000
  await service.second()
  t.deepEqual(await last.take(1), [{ type: 'token_expired' }])
  for (const news of heard) news.onAccessChanged('alice', true)
  t.deepEqual(await kept!.take(1), [{ type: 'account_disabled' }])
})

test('dashboards of a wallet supersede each other but not connections of its key (rule F6); on shutdown they get `restarting`', async (t) => {
  const service = await startFeed({ views: memoryViews().source })
  await fund(service.meter, 'alice', 10)
  const trader = await service.connect('alice')
  const first = await service.connect('dashboard:alice')
  const second = await service.connect('dashboard:alice')
  t.deepEqual(await first.take(2), [{ type: 'superseded' }])
  t.is(await first.closed, 1008)
  await service.channel.rotated('alice', 'hash')
  t.deepEqual(await trader.take(2), [{ type: 'key_rotated' }])
  t.deepEqual(await second.fence(), [])
  const closed = service.close()
  t.deepEqual(await second.take(2), [{ type: 'restarting' }])
  t.is(await second.closed, 1012)
  await closed
})

test('a long snapshot is sent as fast as the client reads; a live client that does not read is closed with 1013 (rule F7)', async (t) => {
  const views = memoryViews()
  const alphabet = 'ABCDEFGHJK'
  const mints = Array.from({ length: 1500 }, (_, n) =>
    [...String(n).padStart(40, '0')].map((digit) => alphabet[Number(digit)]).join(''),
  )
  views.tick(
    T,
    mints.map((mint) => ({ mint, event: 'entered' })),
  )
  const service = await startFeed({ views: views.source, connectionsPerKey: 2 })
  const client = await service.connect('dashboard:alice')
  const slow = await service.connect('dashboard:alice')
  for (const one of [client, slow]) {
    await one.subscribe({ channels: ['watchlist'] })
    const ids = new Set(((await one.take(1500)) as Told[]).map(({ data }) => data.mint))
    t.deepEqual([...ids], mints.sort())
    t.is((await one.take(1)).length, 1)
  }
  slow.socket.pause()
  for (let at = T + 10; at <= T + 100; at += 10) {
    views.tick(
      at,
      mints.map((mint) => ({ mint, event: 'changed' })),
    )
    await passes(service)
    t.is((await client.take(1500)).length, 1500)
  }
  slow.socket.resume()
  t.is(await slow.closed, 1013)
  t.deepEqual(slow.received.at(-1), { type: 'slow_reader' })
  await service.close()
})
