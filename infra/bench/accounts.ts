import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { deploy } from '../whole-service/deployment.ts'
import type { ServiceProcess } from '../whole-service/service-process.ts'
import { cpuSeconds } from './kit/cpu.ts'
import { percentiles, print, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { createWallet } from './kit/wallet.ts'

const USAGE = `npm run bench -- accounts [options]

  --seconds N      how long each line is measured (10)
  --clients N      customers at once (16)`

/**
 * Logins per second (nonce, signature, login), and requests with a token: the account, and a check
 * of credits that finds nothing new. Because the chain is read once per second, checks are also
 * measured alone and of many customers at once. The whole service runs in one process over the
 * simulated market, without limits. The client is this process, on the same cores, and makes the
 * signatures. CPU is the service's own, less what it takes when idle.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { seconds: 10, clients: 16 })
  if (read === null) return
  const { seconds, clients } = read.options
  const deployment = await deploy('embedded', [], {
    LOGIN_RATE_LIMIT_PER_MINUTE: '0',
    MAX_CONNECTIONS_PER_ADDRESS: '0', // all customers come from one address
  })
  try {
    const service = deployment.start('all')
    const ask = createAsk(await service.line('url'), Math.max(clients, CROWD))
    const wallets = Array.from({ length: 100 }, createWallet)
    const logIn = async (turn: number) => {
      const wallet = wallets[turn % wallets.length] as (typeof wallets)[number] // within it
      const body = { wallet: wallet.address }
      const { message } = (await ask('POST', '/auth/nonce', { body })) as { message: string }
      const signature = wallet.signText(message)
      const { token } = (await ask('POST', '/auth/login', {
        body: { ...body, message, signature },
      })) as { token: string }
      return token
    }
    const tokens = await Promise.all(wallets.map((_, turn) => logIn(turn)))
    const withToken = (method: 'GET' | 'POST', path: string) => (turn: number) =>
      ask(method, path, { token: tokens[turn % tokens.length] ?? '' })
    const check = withToken('POST', '/billing/credits/check')
    for (let turn = 0; turn < wallets.length; turn++) await withToken('GET', '/me/api')(turn)
    await Promise.all(wallets.map((_, turn) => check(turn)))

    await sleep(2000)
    const idle = await measureIdle(service, 3)
    print(
      `${clients} customers at once, ${seconds} s each; load average ${loadavg()[0]?.toFixed(1)}; idle ${(idle * 100).toFixed(0)}% of a core\n`,
    )
    printHead('what', 'a second', 'p50 ms', 'p99 ms', 'CPU ms each')
    const checks = 'POST /billing/credits/check, nothing new'
    const load = { seconds, clients, idle, restMs: 0 }
    const lines = [
      ['login: nonce, signature, token', logIn, load],
      ['GET /me/api', withToken('GET', '/me/api'), load],
      ['GET /billing/credits/topups', withToken('GET', '/billing/credits/topups'), load],
      [checks, check, load],
      [`${checks}, ${CROWD} customers at once`, check, { ...load, clients: CROWD }],
      // Each starts long after the previous reading.
      [`${checks}, one customer alone`, check, { ...load, clients: 1, restMs: 1100 }],
    ] as const
    for (const [what, once, how] of lines) await measure(service, what, once, how)
  } finally {
    await deployment.remove()
  }
}

/** Number of customers who have paid and check concurrently. */
const CROWD = 400

async function measure(
  service: ServiceProcess,
  what: string,
  once: (turn: number) => Promise<unknown>,
  how: { seconds: number; clients: number; idle: number; restMs: number },
): Promise<void> {
  const { seconds, clients, idle, restMs } = how
  const took: number[] = []
  const started = performance.now()
  const { pid = 0 } = service.child
  const cpu = cpuSeconds(pid)
  let turn = 0
  const client = async () => {
    while (performance.now() - started < seconds * 1000) {
      const from = performance.now()
      await once(turn++)
      took.push(performance.now() - from)
      if (restMs > 0) await sleep(restMs)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const wall = (performance.now() - started) / 1000
  const each = ((cpuSeconds(pid) - cpu - idle * wall) * 1000) / took.length
  // With few requests, their CPU time cannot be distinguished from that of the idle service.
  const cost = took.length < 50 ? '' : each.toFixed(2)
  const quantiles = percentiles(took, 0.5, 0.99).map((ms) => ms.toFixed(1))
  printRow(what, (took.length / wall).toFixed(0), ...quantiles, cost)
}

/** Fraction of a core that the idle service takes. */
async function measureIdle({ child }: ServiceProcess, seconds: number): Promise<number> {
  const { pid = 0 } = child
  const cpu = cpuSeconds(pid)
  const started = performance.now()
  await sleep(seconds * 1000)
  return (cpuSeconds(pid) - cpu) / ((performance.now() - started) / 1000)
}

/** Sends requests over keep-alive connections. Rejects for any response other than 2xx. */
function createAsk(url: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return (
    method: 'GET' | 'POST',
    path: string,
    { body, token }: { readonly body?: object; readonly token?: string },
  ) =>
    new Promise<unknown>((resolve, reject) => {
      const headers = {
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
      }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body && JSON.stringify(body))
    })
}
