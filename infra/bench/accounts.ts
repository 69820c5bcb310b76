import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import bs58 from 'bs58'
import { deploy } from '../whole-service/deployment.ts'
import type { ServiceProcess } from '../whole-service/service-process.ts'
import { percentile, print } from './kit/figures.ts'

const USAGE = `npm run bench -- accounts [options]

  --seconds N      how long each line is measured (10)
  --clients N      customers at once (16)`

/**
 * Logins a second (nonce, signature, login), and requests with a token: the account, and a check of
 * credits that finds nothing new. As readings of the chain are a second apart, checks are also
 * measured alone and of many customers at once. The whole service runs in one process over the
 * simulated market, without limits. The client is this process, on the same cores, and makes the
 * signatures. CPU is the service's own, less what it takes when idle.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '10' },
      clients: { type: 'string', default: '16' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return print(USAGE)
  const [seconds, clients] = [Number(values.seconds), Number(values.clients)]
  const deployment = await deploy('embedded', [], {
    LOGIN_RATE_LIMIT_PER_MINUTE: '0',
    MAX_CONNECTIONS_PER_ADDRESS: '0', // all customers come from one address
  })
  try {
    const service = deployment.start('all')
    const ask = createAsk(await service.line('url'), Math.max(clients, CROWD))
    const wallets = Array.from({ length: 100 }, newWallet)
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
    print('| what | a second | p50 ms | p99 ms | CPU ms each |')
    print('| --- | --- | --- | --- | --- |')
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
    for (const [what, once, how] of lines) print(await measure(service, what, once, how))
  } finally {
    await deployment.remove()
  }
}

/** Customers who have paid and all check at once. */
const CROWD = 400

/** A customer's wallet. */
function newWallet() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return {
    address: bs58.encode(Buffer.from(x, 'base64url')),
    signText: (text: string) => bs58.encode(sign(null, Buffer.from(text), privateKey)),
  }
}

async function measure(
  service: ServiceProcess,
  what: string,
  once: (turn: number) => Promise<unknown>,
  how: { seconds: number; clients: number; idle: number; restMs: number },
): Promise<string> {
  const { seconds, clients, idle, restMs } = how
  const took: number[] = []
  const started = performance.now()
  const cpu = cpuSeconds(service)
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
  const each = ((cpuSeconds(service) - cpu - idle * wall) * 1000) / took.length
  // With few requests, their CPU cannot be told from that of the idle service.
  const cost = took.length < 50 ? '' : each.toFixed(2)
  const sorted = took.toSorted((a, b) => a - b)
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  return `| ${what} | ${(took.length / wall).toFixed(0)} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${cost} |`
}

/** Fraction of a core that the idle service takes. */
async function measureIdle(service: ServiceProcess, seconds: number): Promise<number> {
  const cpu = cpuSeconds(service)
  const started = performance.now()
  await sleep(seconds * 1000)
  return (cpuSeconds(service) - cpu) / ((performance.now() - started) / 1000)
}

/** User and system time of a process; fields 14 and 15 of proc(5), in hundredths of a second. */
function cpuSeconds({ child }: ServiceProcess): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Sends requests over kept connections; rejects for any answer but 2xx. */
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
      const asked = request(`${url}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        })
      })
      asked.on('error', reject)
      asked.end(body && JSON.stringify(body))
    })
}
