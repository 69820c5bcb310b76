import test from 'ava'
import { type ContractTrade, Customer, type CustomerFeed, until } from './customer.ts'
import { deploy, WHY_NO_SERVERS } from './deployment.ts'

const withServers = WHY_NO_SERVERS === '' ? test.serial : test.skip
const title =
  'a client that hops between two processes of the API, one of which is killed, gets what one that stays gets: each trade once (rules F4, F6, J5)'

withServers(WHY_NO_SERVERS === '' ? title : `${title} (skipped: ${WHY_NO_SERVERS})`, async (t) => {
  const service = await deploy('servers', [])
  try {
    const first = service.start('api')
    const second = service.start('api')
    service.start('workers')
    service.start('ingest')
    const urls = await Promise.all([first.line('url'), second.line('url')])
    const key = await service.createAccount(1_000_000)
    const stays = new Customer(urls[1] ?? '', await service.createAccount(1_000_000))
    const hops = urls.map((url) => new Customer(url, key))

    // Both clients resume from the same position: that of the newest stored trade.
    const { headers } = await until(
      () => stays.get<{ count: number }>('/trades?limit=1'),
      ({ status, body }) => status === 200 && body.count === 1,
    )
    const head = headers.get('x-head-cursor') ?? ''
    const reference = await stays.follow(head)
    const got: ContractTrade[] = []
    let after = head
    const take = async (feed: CustomerFeed, count: number) => {
      await feed.received(count)
      got.push(...feed.trades, ...feed.late)
      after = feed.position ?? after
    }
    for (let hop = 0; hop < 8; hop++) {
      const feed = await hops[hop % 2]!.follow(after)
      await take(feed, 15)
      if (hop === 5) {
        // The newer connection, in another process, closes this one.
        const newer = await hops[1 - (hop % 2)]!.follow(after)
        await feed.notice('superseded')
        await feed.closed()
        newer.close()
        await newer.closed()
      }
      if (hop === 6) await first.kill()
      else feed.close()
      await feed.closed()
    }
    const last = await hops[1]!.follow(after)
    await take(last, 30)
    last.close()
    await last.closed()

    const text = (trade: ContractTrade) => JSON.stringify(trade)
    const count = got.length
    await reference.received(count)
    const expected = [...reference.trades, ...reference.late].slice(0, count)
    t.deepEqual(got.map(text).sort(), expected.map(text).sort())
    reference.close()
  } finally {
    await service.remove()
  }
})
