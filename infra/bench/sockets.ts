import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, percentiles, print, printHead, printRow } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { Helper } from './kit/helper.ts'
import { readOptions } from './kit/options.ts'
import { withServers } from './kit/servers.ts'
import { startOptions } from './kit/start-options.ts'
import type { FromApi, FromSockets, ToApi, ToSockets, Used } from './sockets/protocol.ts'

const USAGE = `npm run bench -- sockets [options]

  --sockets N      sockets, each of an account of its own (10000)
  --seconds N      how long the service is idle, and then sends a trade a second to all (60)
  --snapshot FILE  writes a snapshot of the heap with all sockets

Needs two open files for each socket in all: ulimit -n.`

/**
 * What sockets of many accounts cost one API process, each subscribed to the trades of five
 * wallets: memory, CPU and calls of Redis while they connect, while nothing happens, and while
 * each of them gets a trade a second. The clients are a process on the same cores, and Redis and
 * ClickHouse are on them too.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { sockets: 10_000, seconds: 60, snapshot: '' })
  if (read === null) return
  await withServers((servers) =>
    inFolder((folder) => measure(read.options, servers, join(folder, 'keys'))),
  )
}

async function measure(
  options: { readonly sockets: number; readonly seconds: number; readonly snapshot: string },
  servers: Readonly<Record<string, string>>,
  keysFile: string,
): Promise<void> {
  const { sockets, seconds, snapshot } = options
  const env = { ...servers, ACCOUNTS: `${sockets}`, KEYS_FILE: keysFile }
  const script = (name: string) => join(import.meta.dirname, 'sockets', name)
  const server = new Helper<ToApi, FromApi>(script('serve.js'), env, startOptions())
  const clients = new Helper<ToSockets, FromSockets>(script('clients.js'), {})
  const used = (file = '') => server.ask({ kind: 'measure', snapshot: file }, 'measured')
  try {
    const { port } = await server.hear('ready')
    const empty = await used()
    const connected = await clients.ask({ kind: 'connect', port, keysFile }, 'connected')
    const open = await used(snapshot)
    await sleep(seconds * 1000)
    const idle = await used()
    const received = clients.ask({ kind: 'expect', trades: seconds * sockets }, 'received')
    const published = server.ask({ kind: 'publish', slots: seconds }, 'published')
    const [{ times }, { times: sent }] = [await received, await published]
    const busy = await used()

    print(
      `\n${sockets} sockets, load average ${loadavg()[0]?.toFixed(1)}; connected in ${connected.seconds.toFixed(1)} s, ${connected.refused} times refused for a moment\n`,
    )
    printHead(
      ...[
        'phase',
        'RSS MiB',
        'KiB a socket',
        'heap KiB',
        'outside KiB',
        'CPU s',
        'CPU ms a socket',
      ],
      ...['event loop stood ms', 'Redis commands', 'Redis CPU s'],
    )
    const phases = [
      ['nobody is connected', empty, empty],
      ['all connect and subscribe', open, empty],
      [`${seconds} s idle`, idle, open],
      [`${seconds} s with a trade a second to all`, busy, idle],
    ] as const
    for (const [name, now, before] of phases)
      printRow(name, ...figures(now, before, empty, sockets))
    const firsts = times.map(({ slot, first }) => first - (sent[slot - 1_000_001] ?? Number.NaN))
    const lasts = times.map(({ slot, last }) => last - (sent[slot - 1_000_001] ?? Number.NaN))
    print(
      `\na trade at the first socket after ${median(firsts)} ms, at the last after ${percentiles(lasts, 0.5, 1).join(' ms, at most ')} ms`,
    )
  } finally {
    await Promise.all([server.end(), clients.end()])
  }
}

function figures(now: Used, before: Used, empty: Used, sockets: number): string[] {
  const kib = (bytes: number) => (bytes / sockets / 1024).toFixed(1)
  const cpu = now.cpu - before.cpu
  return [
    `${Math.round(now.rss / 2 ** 20)}`,
    kib(now.rss - empty.rss),
    kib(now.heapUsed - empty.heapUsed),
    kib(now.external - empty.external),
    cpu.toFixed(1),
    ((cpu * 1000) / sockets).toFixed(2),
    `${now.blockedMs}`,
    `${now.redisCommands - before.redisCommands}`,
    (now.redisCpu - before.redisCpu).toFixed(1),
  ]
}
