import { setTimeout as sleep } from 'node:timers/promises'
import { FeedSocket } from '../feed-socket.ts'
import type { AttackedService } from '../service.ts'
import { type Burst, countSent, judgeTally, sendAtPace } from './burst.ts'

const MAX_RESUME_MS = 2000

const subscribes: Burst = {
  name: 'subscribes',
  title: '6,000 subscribes with after on one connection, while another customer resumes',
  async run(world, scale) {
    const [attacker, other] = world.attackers
    const own = attacker?.key ?? ''
    const client = new FeedSocket(world.target, world.address(), own)
    await client.until(() => client.isOpen, 5000)
    const text = JSON.stringify({
      action: 'subscribe',
      channels: ['trades'],
      after: attacker?.cursor,
    })
    for (let sent = 0; sent < 6000 * scale && !client.isClosed; sent++) {
      client.say(text)
      if (sent % 100 === 99) await sleep(5)
    }
    const resumeMs = await resume(world, other?.key ?? own, other?.cursor ?? '')
    await client.until(() => client.isClosed, 3000)
    client.socket.destroy()
    const faults = []
    if (!client.told.includes('rate_limited') || client.closeCode !== 1008)
      faults.push(`not limited: close code ${client.closeCode ?? 'none'}`)
    if (resumeMs === null) faults.push('another customer could not resume')
    else if (resumeMs > MAX_RESUME_MS)
      faults.push(`another customer resumed after ${resumeMs.toFixed(0)} ms`)
    return {
      faults,
      serverErrors: 0,
      slowestMs: resumeMs ?? 0,
      note: `another customer resumed in ${resumeMs?.toFixed(0)} ms`,
    }
  },
}

/** How long another customer waits for the first missed trade; null: it never came. */
async function resume(world: AttackedService, key: string, after: string): Promise<number | null> {
  const started = performance.now()
  const client = new FeedSocket(world.target, world.address(), key)
  await client.until(() => client.isOpen, 20_000)
  client.say(JSON.stringify({ action: 'subscribe', channels: ['trades'], after }))
  const isBack = await client.until(() => client.trades > 0, 60_000)
  client.socket.destroy()
  return isBack ? performance.now() - started : null
}

const account: Burst = {
  name: 'one account',
  title: '10,000 requests with one key from ten addresses, 200 at a time',
  async run(world, scale) {
    const { key = '', mint = '' } = world.attackers.at(-1) ?? {}
    const addresses = Array.from({ length: 10 }, () => world.address())
    const paths = ['/trades?limit=100', '/wallets', `/tokens/${mint}/swaps`, '/tokens/held']
    const headers = { authorization: `Bearer ${key}` }
    const tally = await sendAtPace(world, {
      count: Math.round(10_000 * scale),
      concurrency: 200,
      perSecond: 1000,
      addresses,
      request: (n) => ({ path: paths[n % paths.length] ?? '', headers }),
    })
    const isLimited = countSent(tally, 429) > 0
    return judgeTally(tally, [200, 429], isLimited ? [] : ['the account is not limited'])
  },
}

const connects: Burst = {
  name: 'connects',
  title: '300 connections to the feed with one key, each resumed and dropped',
  async run(world, scale) {
    const { key = '', cursor = '' } = world.attackers[0] ?? {}
    const address = world.address()
    const clients: FeedSocket[] = []
    for (let n = 0; n < 300 * scale; n++) {
      const client = new FeedSocket(world.target, address, key)
      client.say(JSON.stringify({ action: 'subscribe', channels: ['trades'], after: cursor }))
      clients.push(client)
      await sleep(10)
      if (n % 3 === 0) client.socket.resetAndDestroy()
    }
    await sleep(2000)
    const open = clients.filter(({ isClosed }) => !isClosed).length
    const statuses = clients.map(({ answers }) => answers[0]?.status ?? 0)
    for (const { socket } of clients) socket.destroy()
    return {
      faults: open > 1 ? [`one key has ${open} connections`] : [],
      serverErrors: statuses.filter((status) => status >= 500).length,
      slowestMs: 0,
      note: `${open} of ${clients.length} left open`,
    }
  },
}

/** Bursts of customers against other customers. */
export const CUSTOMERS: readonly Burst[] = [subscribes, connects, account]
