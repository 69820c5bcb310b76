import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Address } from '../../../pipeline/domain/address.ts'
import { Fleet } from '../../drills/kit/fleet.ts'
import { type Deployment, deploy } from '../../whole-service/deployment.ts'
import { ROOT } from '../../whole-service/service-process.ts'
import type { AtEnd } from '../kit/at-end.ts'
import { print } from '../kit/figures.ts'
import { Helper } from '../kit/helper.ts'
import { startOptions } from '../kit/start-options.ts'
import { readGauge } from './gauge.ts'
import type { MarketSize } from './market-options.ts'
import type { FromFollowers, FromMarket, ToFollowers, ToMarket } from './protocol.ts'

/** What runs while the bench measures, beside the servers. */
export interface Rig {
  readonly market: Helper<ToMarket, FromMarket>
  readonly followers: Helper<ToFollowers, FromFollowers>
  /** A process of each role. */
  readonly fleet: Fleet
  /** The API, and the key of one of its accounts. */
  readonly url: string
  readonly key: string
  /** Numbers of the processes, by name. */
  readonly pids: ReadonlyMap<string, number>
}

/** Settings of `startRig`. */
export interface RigOptions {
  /** Environment variables of the servers. */
  readonly servers: Readonly<Record<string, string>>
  readonly folder: string
  readonly addresses: readonly Address[]
  readonly size: MarketSize
  readonly sockets: number
}

const POLL_MS = 500
/** The API reads millions of positions when it starts. */
const READY_MS = 1_800_000
/** So many sockets take every trade. */
const UNFILTERED = 10
/** Fewer than `CONNECTIONS_PER_KEY` below. */
const SOCKETS_PER_ACCOUNT = 500
const CREDITS = 100_000_000_000
const SETTINGS = {
  // Wallets begin to trade in the middle of their history, so breaks are no fault.
  REPAIR_RPC_CALLS_PER_HOUR: '0',
  // A few accounts on one address stand for many customers: no limit of one is below those of all.
  ACCOUNT_STORE_READS: '8',
  CONNECTIONS_PER_KEY: '1000',
  MAX_CONNECTIONS_PER_ADDRESS: '0',
  LOG_LEVEL: 'warn',
}

/**
 * Starts the simulator, a process of each role and the sockets. Resolves when all are ready;
 * rejects if a process ends before.
 */
export async function startRig(options: RigOptions, atEnd: AtEnd): Promise<Rig> {
  const { servers, folder, addresses, size, sockets } = options
  const startedAt = performance.now()
  const market = startHelper<ToMarket, FromMarket>('market', atEnd, {
    WALLETS: `${size.wallets}`,
    RATE: `${size.rate}`,
    BURST: `${size.burst}`,
  })
  const { endpoint, rpcUrl, solPricePool } = await market.hear('ready')
  const walletsFile = join(folder, 'wallets.txt')
  writeFileSync(walletsFile, `${addresses.join('\n')}\n`)
  const deployment = await deploy('embedded', [], {
    ...servers,
    ...SETTINGS,
    YELLOWSTONE_ENDPOINT: endpoint,
    SOLANA_RPC_URL: rpcUrl,
    SOL_PRICE_POOL: solPricePool,
    WALLETS_FILE: walletsFile,
  })
  atEnd(() => deployment.remove())
  const { fleet, url } = await startService(deployment, atEnd)
  print(`service ready after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  const followers = startHelper<ToFollowers, FromFollowers>('followers', atEnd)
  const keys: string[] = []
  while (keys.length === 0 || keys.length * SOCKETS_PER_ACCOUNT < sockets)
    keys.push(await deployment.createAccount(CREDITS))
  const port = Number(new URL(url).port)
  const { seconds, refused } = await followers.ask(
    { kind: 'connect', port, keys, sockets, unfiltered: UNFILTERED, wallets: size.wallets },
    'connected',
  )
  print(
    `${sockets} sockets connected in ${seconds.toFixed(1)} s, ${refused} times refused at first`,
  )
  const pids = new Map([
    ...fleet.members.map(({ role, process }) => [role, process?.child.pid ?? 0] as const),
    ['simulator', market.pid] as const,
    ['sockets', followers.pid] as const,
  ])
  return { market, followers, fleet, url, key: keys[0] ?? '', pids }
}

function startHelper<To extends object, From extends { readonly kind: string }>(
  name: string,
  atEnd: AtEnd,
  env: Readonly<Record<string, string>> = {},
): Helper<To, From> {
  const script = join(import.meta.dirname, `${name}.js`)
  const helper = new Helper<To, From>(script, env, ['--max-old-space-size=8192'])
  atEnd(() => helper.end())
  return helper
}

async function startService(deployment: Deployment, atEnd: AtEnd) {
  const options = { each: 1, nodeOptions: startOptions(), readyMs: READY_MS }
  const fleet = await Fleet.create(deployment.env, options)
  atEnd(() => fleet.close())
  // The API last, once a slot is stored: the tables are filled without a marker, and it would take
  // every position for one ahead of it.
  await startMembers(
    fleet,
    fleet.members.filter(({ role }) => role !== 'api'),
  )
  const [workers] = fleet.of('workers')
  while ((await readGauge(workers?.metricsPort ?? 0, 'fold_slot')) === 0) {
    fleet.supervise()
    await pause(POLL_MS)
  }
  await startMembers(fleet, fleet.of('api'))
  const url = (await fleet.of('api')[0]?.process?.line('url')) ?? ''
  return { fleet, url }
}

/** Starts processes one after another, as each may create the topics, until all are ready. */
async function startMembers(fleet: Fleet, members: Fleet['members']): Promise<void> {
  for (const member of members) {
    fleet.start(member, ROOT)
    await fleet.answers(member)
  }
  for (const member of members) await fleet.ready(member)
}
