import { loadavg } from 'node:os'
import { join } from 'node:path'
import type { FromClients, FromServer, ToClients, ToServer } from './feed/protocol.ts'
import { measureResume } from './feed/resume.ts'
import { median, percentiles, print, printHead, printRow } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { Helper } from './kit/helper.ts'
import { readOptions } from './kit/options.ts'
import { withServers } from './kit/servers.ts'

const USAGE = `npm run bench -- feed [PART ...] [options]

  PART           deliveries, latency, connections, resume (all when none is named)
  --mode M       embedded or servers (both, one after the other)
  --rounds N     turns of the feed and of the bare server, one after the other (5)
  --swaps N      swaps stored for resume (300000)`

/**
 * Delivery of the live feed with charging, beside a bare `ws` server that sends the same bytes to
 * as many sockets; the latency of a trade at 500 per second; the cost of 10,000 connections; how
 * fast a client catches up from storage. Server, clients and this process are three processes on
 * the same cores.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { mode: '', rounds: 5, swaps: 300_000 })
  if (read === null) return
  const { options, words } = read
  const wants = (part: string) => words.length === 0 || words.includes(part)
  const measure = async (mode: string, servers: Env) => {
    print(`\n${mode}; load average of the last minute ${loadavg()[0]?.toFixed(1)}`)
    if (wants('deliveries'))
      for (const trades of [20, 1])
        for (const sockets of [200, 1000])
          await measureDeliveries({ sockets, trades }, options.rounds, servers)
    if (wants('latency')) await measureLatency(200, servers)
    if (wants('connections')) await measureConnections(10_000, servers)
    if (wants('resume'))
      await inDataDir((env) => measureResume(options.swaps, { ...servers, ...env }))
  }
  if (options.mode !== 'servers') await measure('embedded', {})
  if (options.mode !== 'embedded') await withServers((env) => measure('servers', env))
}

type Env = Readonly<Record<string, string>>

const inDataDir = (work: (env: Env) => Promise<void>) =>
  inFolder((folder) => work({ DATA_DIR: join(folder, 'data'), METRICS_PORT: '0' }))

const script = (name: string) => join(import.meta.dirname, 'feed', name)

type Server = Helper<ToServer, FromServer>
type Clients = Helper<ToClients, FromClients>

async function withPair(
  kind: 'feed' | 'bare',
  servers: Env,
  work: (parts: { server: Server; clients: Clients; port: number }) => Promise<void>,
): Promise<void> {
  await inDataDir(async (env) => {
    const server: Server = new Helper(script('serve.js'), { ...servers, ...env, KIND: kind })
    const clients: Clients = new Helper(script('clients.js'), {})
    try {
      const { port } = await server.hear('ready')
      await work({ server, clients, port })
    } finally {
      await Promise.all([server.end(), clients.end()])
    }
  })
}

/** A slot's trades are one write to a socket, so that fewer trades cost more each. */
async function measureDeliveries(
  { sockets, trades }: { readonly sockets: number; readonly trades: number },
  rounds: number,
  servers: Env,
): Promise<void> {
  const slots = Math.ceil(200_000 / (sockets * trades))
  const perSecond: Record<'feed' | 'bare', number[]> = { feed: [], bare: [] }
  const cpuUs: Record<'feed' | 'bare', number[]> = { feed: [], bare: [] }
  await withPair('feed', servers, (feed) =>
    withPair('bare', {}, async (bare) => {
      for (const { clients, port } of [feed, bare])
        await clients.ask({ kind: 'connect', port, sockets }, 'connected')
      for (let round = -2; round < rounds; round++)
        for (const [kind, { server, clients }] of Object.entries({ feed, bare })) {
          const messages = slots * trades * sockets
          const received = clients.ask({ kind: 'expect', messages }, 'received')
          const send = { kind: 'send', slots, trades, everyMs: 0 } as const
          const { seconds, cpuSeconds } = await server.ask(send, 'sent')
          await received
          if (round < 0) continue // to warm up
          perSecond[kind as 'feed' | 'bare'].push(messages / seconds)
          cpuUs[kind as 'feed' | 'bare'].push((cpuSeconds * 1e6) / messages)
        }
    }),
  )
  print(
    `\n${sockets} sockets, slots of ${trades} ${trades === 1 ? 'trade' : 'trades'}, ${rounds} turns of each, medians\n`,
  )
  printHead('server', 'deliveries/s', 'CPU us each')
  for (const kind of ['feed', 'bare'] as const)
    printRow(kind, Math.round(median(perSecond[kind])), median(cpuUs[kind]).toFixed(2))
  const ratios = [perSecond, cpuUs].map(({ feed, bare }) => (100 * median(feed)) / median(bare))
  printRow('feed / bare', ...ratios.map((percent) => `${percent.toFixed(0)}%`))
}

async function measureLatency(sockets: number, servers: Env): Promise<void> {
  await withPair('feed', servers, async ({ server, clients, port }) => {
    await clients.ask({ kind: 'connect', port, sockets }, 'connected')
    const [slots, trades, everyMs] = [400, 50, 100]
    const messages = slots * trades * sockets
    const received = clients.ask({ kind: 'expect', messages }, 'received')
    const { firstSlot, times } = await server.ask({ kind: 'send', slots, trades, everyMs }, 'sent')
    const { arrivals } = await received
    const ms = arrivals
      .filter(([slot]) => slot >= firstSlot + 50) // the rest is to warm up
      .map(([slot, at]) => (at - (times[slot - firstSlot] ?? Number.NaN)) / 1000)
    const [p50, p99, max] = percentiles(ms, 0.5, 0.99, 1).map((one) => one.toFixed(2))
    print(
      `\nadded latency, ${sockets} sockets, 500 trades a second in slots of 100 ms: from the slot handed to the log to its last trade received: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms (${ms.length} slots)`,
    )
  })
}

async function measureConnections(sockets: number, servers: Env): Promise<void> {
  await withPair('feed', servers, async ({ server, clients, port }) => {
    const before = await server.ask({ kind: 'memory' }, 'memory')
    const { seconds } = await clients.ask({ kind: 'connect', port, sockets }, 'connected')
    const after = await server.ask({ kind: 'memory' }, 'memory')
    const messages = 20 * 5 * sockets
    const received = clients.ask({ kind: 'expect', messages }, 'received')
    const sent = await server.ask({ kind: 'send', slots: 20, trades: 5, everyMs: 1000 }, 'sent')
    const { arrivals } = await received
    const ms = arrivals.map(
      ([slot, at]) => (at - (sent.times[slot - sent.firstSlot] ?? Number.NaN)) / 1000,
    )
    const loaded = await server.ask({ kind: 'memory' }, 'memory')
    const kib = (bytes: number) => (bytes / sockets / 1024).toFixed(1)
    print(
      `\n${after.connections} connections, subscribed in ${seconds.toFixed(1)} s: ${kib(after.rss - before.rss)} KiB each, ${kib(loaded.rss - before.rss)} KiB after 100 trades to all; ` +
        `process ${Math.round(loaded.rss / 2 ** 20)} MiB; CPU ${((sent.cpuSeconds * 1e6) / messages).toFixed(2)} us a delivery; slot of 5 trades received by the first: p50 ${median(ms).toFixed(1)} ms`,
    )
  })
}
