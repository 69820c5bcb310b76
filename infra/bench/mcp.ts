import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { type ServiceProcess, startProcess } from '../whole-service/service-process.ts'
import { cpuSeconds } from './kit/cpu.ts'
import { median, printHead, printRow } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { readOptions } from './kit/options.ts'
import { startOptions } from './kit/start-options.ts'

const USAGE = `npm run bench -- mcp [options]

  --swaps N       swaps stored (100000)
  --seconds N     how long each turn of load lasts (5)
  --rounds N      turns of REST and of the tools, one after the other (3)
  --connections N connections of the client (32)`

/** The same answer as a REST request, and as the call of a tool. */
const ANSWERS = [
  { path: '/wallets/W1/metrics', name: 'get_wallet_metrics', given: { alias: 'W1' } },
  { path: '/trades?limit=25', name: 'list_trades', given: { limit: 25 } },
  { path: '/wallets', name: 'list_wallets', given: {} },
] as const

/**
 * Answers a second of tools over `POST /mcp`, beside the same answers over REST in the same run,
 * with authentication, credits and limits on. Service and client are processes on the same cores.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = { swaps: 100_000, seconds: 5, rounds: 3, connections: 32 }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { options } = read
  await inFolder(async (folder) => {
    const env = {
      SECRET_KEY: randomBytes(32).toString('hex'),
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      METRICS_PORT: '0',
      RATE_LIMIT_PER_MINUTE: '10000000',
      ACCOUNT_RATE_LIMIT_PER_MINUTE: '10000000',
      ACCOUNT_CONCURRENT_REQUESTS: '10000',
      MAX_CONNECTIONS_PER_ADDRESS: '0',
      SHED_LOAD_ABOVE_MS: '0',
      SWAPS: String(options.swaps),
    }
    const service = startProcess('infra/bench/api/serve.js', env, [], startOptions())
    try {
      await service.line('seeded')
      const key = await service.line('keys')
      const url = await service.line('url')
      await measure(service, { ...options, key, url })
    } finally {
      await service.stop()
    }
  })
}

interface Measured {
  readonly url: string
  readonly key: string
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
}

async function measure(service: ServiceProcess, options: Measured): Promise<void> {
  const { rounds, seconds } = options
  printHead('answer', 'KB', 'REST, answers/s', 'CPU us', 'tool, answers/s', 'CPU us', 'load')
  for (const { path, name, given } of ANSWERS) {
    const params = { name, arguments: given }
    const rest = { method: 'GET' as const, path }
    const tool = {
      method: 'POST' as const,
      path: '/mcp',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    }
    const turns = { rest: [] as Turn[], tool: [] as Turn[] }
    for (const request of [rest, tool]) await load(service, request, { ...options, seconds: 2 })
    for (let round = 0; round < rounds; round++) {
      turns.rest.push(await load(service, rest, { ...options, seconds }))
      turns.tool.push(await load(service, tool, { ...options, seconds }))
    }
    const cells = Object.values(turns).flatMap((some) => [
      median(some.map(({ perSecond }) => perSecond)).toFixed(0),
      median(some.map(({ cpuUs }) => cpuUs)).toFixed(0),
    ])
    const kib = ((turns.rest[0]?.bytes ?? 0) / 1024).toFixed(1)
    printRow(`\`${name}\``, kib, ...cells, loadavg()[0]?.toFixed(1) ?? '')
  }
}

interface Turn {
  readonly perSecond: number
  /** Microseconds of CPU of the service for each answer. */
  readonly cpuUs: number
  /** Bytes of an answer, with its header. */
  readonly bytes: number
}

async function load(
  service: ServiceProcess,
  request: autocannon.Request,
  { url, key, seconds, connections }: Measured,
): Promise<Turn> {
  const { pid = 0 } = service.child
  const before = cpuSeconds(pid)
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    requests: [request],
  })
  const { total } = result.requests
  if (result.non2xx + result.errors + result.timeouts > 0)
    throw new Error(`refused or failed: ${JSON.stringify(result.statusCodeStats)}`)
  return {
    perSecond: total / result.duration,
    cpuUs: ((cpuSeconds(pid) - before) * 1e6) / total,
    bytes: result.throughput.total / total,
  }
}
