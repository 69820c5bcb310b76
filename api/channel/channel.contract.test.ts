import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import { forwardTo } from '../testing/forwarder.ts'
import { fund, startFeed } from '../testing/start-feed.ts'
import { type AccountChannel, createMemoryChannel } from './account-channel.ts'
import { createRedisChannel } from './redis.ts'

const { REDIS_URL } = process.env
const logger = createLogger('silent')

/** Collects events; the returned function resolves with the next `count` of them. */
function listen(channel: AccountChannel) {
  const heard: string[] = []
  let check = () => {}
  const hear = (text: string) => {
    heard.push(text)
    check()
  }
  channel.listen({
    onSuperseded: (account, name) => hear(`superseded ${account} ${name}`),
    onRotated: (account, key) => hear(`rotated ${account} ${key}`),
    onKeyDeleted: (account, key) => hear(`key_deleted ${account} ${key}`),
    onAccessChanged: (account, isDisabled) => hear(`access ${account} ${isDisabled}`),
    onLoggedOut: (tokenId) => hear(`logged_out ${tokenId}`),
    onLoggedOutEverywhere: (wallet, generation) =>
      hear(`logged_out_everywhere ${wallet} ${generation}`),
    onBack: () => hear('back'),
  })
  return (count: number) =>
    new Promise<string[]>((resolve) => {
      check = () => {
        if (heard.length < count) return
        check = () => {} // later events are for the next call
        resolve(heard.splice(0, count))
      }
      check()
    })
}

test('with one process listeners get a rotation, a disabled account, a logout and a logout everywhere at once', async (t) => {
  const channel = createMemoryChannel()
  const heard = listen(channel)
  await channel.rotated('alice', 'hash')
  await channel.accessChanged('alice', true)
  await channel.loggedOut('token')
  await channel.loggedOutEverywhere('alice', 7)
  t.deepEqual(await heard(4), [
    'rotated alice hash',
    'access alice true',
    'logged_out token',
    'logged_out_everywhere alice 7',
  ])
  t.true(channel.isUp)
})

const withRedis = REDIS_URL === undefined ? test.skip : test.serial
const title = (what: string) =>
  REDIS_URL === undefined ? `${what} (skipped: REDIS_URL is not set)` : what
const fresh = () => `test-${randomBytes(6).toString('hex')}:`

withRedis(
  title('a newer connection supersedes the oldest, in any process (rule F6)'),
  async (t) => {
    const prefix = fresh()
    const open = async (aliveMs?: number) => {
      const options = { prefix, ...(aliveMs && { aliveMs }) }
      const channel = await createRedisChannel(new URL(REDIS_URL ?? ''), logger, options)
      t.teardown(() => channel.close().catch(() => {})) // else a failure would keep the process
      return channel
    }
    const [a, b, dead] = await Promise.all([open(), open(), open(50)])
    const [heardA, heardB] = [listen(a), listen(b)]
    const first = await a.opened('alice', 'one', 2)
    const second = await b.opened('alice', 'two', 2)
    t.true(second > first)
    await b.opened('bob', 'other', 2)
    await b.opened('alice', 'three', 2)
    t.deepEqual(await heardA(1), ['superseded alice one'])
    // A connection that returns keeps its order, so it is the oldest now.
    await a.opened('alice', 'one', 2, first)
    t.deepEqual(await heardA(1), ['superseded alice one'])
    await b.closed('alice', 'three')
    await a.opened('alice', 'four', 2)
    await a.opened('alice', 'five', 2)
    t.deepEqual(await heardB(1), ['superseded alice two'])
    await Promise.all([a.closed('alice', 'four'), a.closed('alice', 'five')])

    // Connections of a dead process are removed before all others.
    await a.opened('carol', 'one', 1)
    await dead.opened('carol', 'ghost', 2)
    await dead.close()
    await b.opened('carol', 'two', 2)
    await b.rotated('carol', 'hash')
    t.deepEqual(await heardA(1), ['rotated carol hash'])
    t.deepEqual(await heardB(1), ['rotated carol hash'])
    await a.loggedOut('token')
    t.deepEqual(await heardA(1), ['logged_out token'])
    // A process also receives its own events.
    t.deepEqual(await heardB(2), ['rotated carol hash', 'logged_out token'])
    t.deepEqual(await heardA(1), ['logged_out token'])
    for (const isDisabled of [true, false]) {
      await a.accessChanged('carol', isDisabled)
      t.deepEqual(await heardA(2), Array(2).fill(`access carol ${isDisabled}`))
      t.deepEqual(await heardB(1), [`access carol ${isDisabled}`])
    }
    await a.keyDeleted('carol', 'hash')
    t.deepEqual(await heardA(2), Array(2).fill('key_deleted carol hash'))
    t.deepEqual(await heardB(1), ['key_deleted carol hash'])
    await a.loggedOutEverywhere('carol', 7)
    t.deepEqual(await heardA(1), ['logged_out_everywhere carol 7'])
    t.deepEqual(await heardB(1), ['logged_out_everywhere carol 7'])
    await Promise.all([a.close(), b.close()])
  },
)

withRedis(
  title(
    'two processes keep one connection of a key, also after an outage of Redis; a rotation ends it (rule F6)',
  ),
  async (t) => {
    const prefix = fresh()
    const way = await forwardTo(new URL(REDIS_URL ?? ''))
    const channels = await Promise.all([
      createRedisChannel(new URL(REDIS_URL ?? ''), logger, { prefix }),
      createRedisChannel(way.url, logger, { prefix }),
    ])
    const heard = listen(channels[1]!)
    const meter = createMemoryMeter()
    await fund(meter, 'alice', 1000)
    const [one, two] = await Promise.all(channels.map((channel) => startFeed({ channel, meter })))
    const first = await one!.connect('alice')
    await first.subscribe()
    const second = await two!.connect('alice')
    t.deepEqual(await first.take(1), [{ type: 'superseded' }])
    t.is(await first.closed, 1008)
    t.deepEqual(await second.fence(), [])

    // While the second process receives nothing, the first one gets a newer connection.
    way.open(false)
    while (channels[1]!.isUp) await new Promise((resolve) => setImmediate(resolve))
    const third = await one!.connect('alice')
    t.deepEqual(await third.fence(), [])
    way.open(true)
    t.deepEqual((await heard(2)).includes('back'), true)
    t.deepEqual(await second.take(1), [{ type: 'superseded' }])
    t.deepEqual(await third.fence(), [])

    await channels[1]!.rotated('alice', 'hash')
    t.deepEqual(await third.take(1), [{ type: 'key_rotated' }])
    t.is(await third.closed, 1008)
    await Promise.all([one!.close(), two!.close()])
    await Promise.all(channels.map((channel) => channel.close()))
    way.close()
  },
)

withRedis(title('a channel is back once both its connections are, in either order'), async (t) => {
  let onCut: (() => void) | null = null
  // The subscription is restored, and the other connection is lost at that moment.
  const way = await forwardTo(new URL(REDIS_URL ?? ''), (said) => {
    if (onCut === null || !said.includes('process:')) return false
    onCut()
    return true
  })
  const channel = await createRedisChannel(way.url, logger, { prefix: fresh() })
  const heard = listen(channel)
  const isCut = new Promise<void>((resolve) => {
    onCut = () => {
      onCut = null
      resolve()
    }
  })
  way.cut()
  await isCut
  t.deepEqual(await heard(1), ['back'])
  t.true(channel.isUp)
  await channel.loggedOut('token')
  t.deepEqual(await heard(2), ['logged_out token', 'logged_out token'])
  await channel.close()
  way.close()
})
