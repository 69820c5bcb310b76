import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import bs58 from 'bs58'
import { createWallet } from '../bench/kit/wallet.ts'
import { askOperator } from '../operator/socket.ts'
import { until } from '../whole-service/customer.ts'
import { freePort } from '../whole-service/free-port.ts'
import { type ServiceProcess, startProcess } from '../whole-service/service-process.ts'
import { sendRequest } from './ask.ts'
import type { Placeholders } from './case.ts'
import { type Endpoint, endpointOf } from './wire.ts'

/** The service under attack. */
export interface AttackedService {
  readonly url: string
  readonly target: Endpoint
  /** URL of the service's metrics; null if unknown. */
  readonly metricsUrl: string | null
  /** Attacking accounts, each with its own key and used by one connection at a time. */
  readonly attackers: readonly Placeholders[]
  /** The key of the harmless customer. */
  readonly customerKey: string
  /** Ids of the service's process and its servers; empty when it runs on another machine. */
  readonly pids: readonly number[]
  /**
   * A loopback client address that no case has used; null when the service is elsewhere, and all
   * cases share one address.
   */
  address(): string | null
  /** Makes the service collect all garbage, so that what is left is in use. */
  collectGarbage(): Promise<void>
  /** Stops the service with SIGTERM. Null when the service was not started by this run. */
  stop(): Promise<{ readonly code: number | string; readonly ms: number } | null>
  remove(): Promise<void>
}

/** Attackers of generated cases; one more is left for bursts that use up an account. */
const ATTACKERS = 7
const CREDITS = '90000'
const PATIENCE_MS = 90_000
/** The options of `npm start`, and a signal that collects garbage. */
const NODE_OPTIONS = [
  '--max-semi-space-size=64',
  '--initial-old-space-size=256',
  '--concurrent-marking-max-worker-num=1',
  '--expose-gc',
  "--import=data:text/javascript,process.on('SIGUSR2',()=>gc())",
]

/**
 * Starts the service with its embedded parts and default limits, over a market in a separate
 * process. `env` overrides the defaults.
 */
export async function startAttackedService(
  env: Readonly<Record<string, string>> = {},
): Promise<AttackedService> {
  const folder = mkdtempSync(join(tmpdir(), 'abuse-'))
  const market = startProcess('infra/simulator/main.js', {}, [
    ...['--wallets-file', join(folder, 'wallets')],
    ...['--tracked-per-slot', '0.5', '--others-per-slot', '1'],
  ])
  const processes: ServiceProcess[] = [market]
  const remove = async () => {
    await Promise.all(processes.map((one) => one.kill()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await market.line('WALLETS_FILE')
    const metricsPort = await freePort()
    const dataDir = join(folder, 'data')
    const service = startProcess(
      'infra/service/main.js',
      {
        ...Object.fromEntries(market.lines),
        DATA_DIR: dataDir,
        PORT: '0',
        METRICS_PORT: String(metricsPort),
        LOG_LEVEL: 'warn',
        ...env,
      },
      [],
      NODE_OPTIONS,
    )
    processes.push(service)
    const url = await service.line('url')
    const keys = await Promise.all(
      Array.from({ length: ATTACKERS + 1 }, () => createAccount(dataDir)),
    )
    const [customerKey = '', ...attackerKeys] = keys
    const address = nextAddress()
    return {
      ...worldAt(url, `http://127.0.0.1:${metricsPort}/metrics`, address),
      attackers: await learn(url, attackerKeys, address),
      customerKey,
      pids: [service, market].flatMap(({ child }) => child.pid ?? []),
      async collectGarbage() {
        service.child.kill('SIGUSR2')
        await sleep(1000)
      },
      async stop() {
        const started = performance.now()
        const code = await Promise.race([service.stop(), sleep(15_000, 'still running after 15 s')])
        return { code, ms: performance.now() - started }
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A service that runs already; attackers and customer share `key`. */
export async function attachService(
  url: string,
  metricsUrl: string | null,
  key: string,
): Promise<AttackedService> {
  const isLocal = /^(localhost|127\.)/.test(new URL(url).hostname)
  const address = isLocal ? nextAddress() : () => null
  return {
    ...worldAt(url, metricsUrl, address),
    attackers: await learn(url, [key], address),
    customerKey: key,
    pids: [],
    collectGarbage: async () => {},
    stop: async () => null,
    remove: async () => {},
  }
}

function worldAt(url: string, metricsUrl: string | null, address: AttackedService['address']) {
  return { url, target: endpointOf(url), metricsUrl, address }
}

/** Addresses from 127.16.0.1 on: on Linux, a client may use all of 127.0.0.0/8. */
function nextAddress(): () => string {
  let next = 0
  return () => {
    next++
    return `127.${16 + (next >> 16)}.${(next >> 8) & 255}.${next & 255}`
  }
}

async function createAccount(dataDir: string): Promise<string> {
  const wallet = bs58.encode(randomBytes(32))
  const args = ['account', 'create', '--wallet', wallet, '--credits', CREDITS]
  const reply = await until(
    () => askOperator(dataDir, args, () => {}),
    (reply) => reply !== null,
    PATIENCE_MS,
  )
  if (reply?.kind !== 'done') throw new Error(JSON.stringify(reply))
  return (reply.outcome.document as { api_key: string }).api_key // rule J3
}

/**
 * Waits for some pages of trades; returns the values of the running service that cases need. Each
 * key gets its own token.
 */
async function learn(
  url: string,
  keys: readonly string[],
  address: AttackedService['address'],
): Promise<Placeholders[]> {
  const target = endpointOf(url)
  const headers = { authorization: `Bearer ${keys[0]}` }
  const page = await until(
    async () => {
      await sleep(500)
      const { body } = await sendRequest(target, { path: '/trades?limit=10', headers })
      return JSON.parse(body || '{}') as { next_cursor?: string | null; items?: { mint: string }[] }
    },
    ({ next_cursor }) => typeof next_cursor === 'string',
    PATIENCE_MS,
  )
  const cursor = page.next_cursor ?? ''
  const mint = page.items?.[0]?.mint ?? ''
  return Promise.all(
    keys.map(async (key) => ({ key, token: await tokenOf(target, address()), cursor, mint })),
  )
}

/** Logs a new wallet in as the dashboard does; returns its token. */
async function tokenOf(target: Endpoint, address: string | null): Promise<string> {
  const wallet = createWallet()
  const from = { localAddress: address }
  const { message = '' } = await postJson(target, '/auth/nonce', { wallet: wallet.address }, from)
  const login = { wallet: wallet.address, message, signature: wallet.signText(message) }
  const { token } = await postJson(target, '/auth/login', login, from)
  if (token === undefined) throw new Error('the login returned no token')
  return token
}

/** Posts a JSON body; returns the JSON of the response. */
export async function postJson(
  target: Endpoint,
  path: string,
  body: object,
  from: { readonly localAddress?: string | null; readonly headers?: Record<string, string> } = {},
): Promise<Readonly<Record<string, string | undefined>>> {
  const got = await sendRequest(target, {
    ...from,
    path,
    method: 'POST',
    body: JSON.stringify(body),
  })
  return JSON.parse(got.body || '{}') as Record<string, string> // the API answers JSON
}
