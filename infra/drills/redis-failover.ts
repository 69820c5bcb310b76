import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readRedisUrl, type SentinelUrl } from '../../api/redis-url.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { percentiles, print } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { RedisSentinel } from '../servers/redis-sentinel.ts'
import { startServers } from '../servers/servers.ts'
import { createRandom } from '../simulator/random.ts'
import { ChargeLoad } from './kit/charge-load.ts'

const USAGE = `npm run -s drill -- redis-failover --data DIR [options]

Charges accounts over a Redis master that Sentinels watch, from two meters, while the master is
killed (SIGKILL; started again once another one is the master), paused (SIGSTOP; until another
one is the master) or replaced by SENTINEL FAILOVER. After each failover the ledger is compared
with what was acknowledged. Exits with 1 if more was lost than was acknowledged within one
second, if the ledger has a charge too many, or if ledger and meter differ.

  --data DIR        folder of a cluster (infra/servers); made if absent, left running
  --failovers N     how many (30)
  --seed N          which, and when (of the time)
  --rate N          charges a second (1000)
  --port-base P     first port (29000, or what the folder was last used with)`

const KINDS = ['kill', 'pause', 'command'] as const
type Kind = (typeof KINDS)[number]

/** What one failover cost. */
interface Failover {
  readonly kind: Kind
  /** Until the first charge that the new master acknowledged, in milliseconds. */
  readonly recoveredMs: number
  /** Acknowledged charges that the ledger lacks; below zero, how many it has too many. */
  readonly lost: number
}

/** Runs the drill. Returns whether no more was lost than is promised. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, {
    data: '',
    failovers: 30,
    seed: Date.now() % 1_000_000,
    rate: 1000,
    'port-base': 0,
  })
  if (read === null) return true
  const { data, failovers, seed, rate, 'port-base': portBase } = read.options
  if (data === '') throw new Error(USAGE)
  print(`seed ${seed}`)
  const { REDIS_URL = '' } = await startServers(data, {
    cluster: true,
    only: 'redis',
    ...(portBase > 0 && { portBase }),
  })
  const url = readRedisUrl(REDIS_URL) as SentinelUrl // of a cluster
  const folder = mkdtempSync(join(tmpdir(), 'redis-failover-'))
  const store = await createStore({ kind: 'chdb', path: folder })
  await migrate(store)
  const load = new ChargeLoad(store)
  try {
    await load.open(url, 2)
    const random = createRandom(seed, 'redis-failover')
    const done: Failover[] = []
    while (done.length < failovers) {
      const kind = random.pick(KINDS)
      load.start(rate)
      await load.nextAcknowledged()
      await delay(random.between(500, 2000))
      const recoveredMs = await failOver(kind, data, new RedisSentinel(data, url), load)
      await delay(500)
      done.push({ kind, recoveredMs, lost: await load.settle() })
      process.stderr.write(`${JSON.stringify(done.at(-1))}\n`)
    }
    return report(done, load.acknowledged, await load.mismatches(), rate)
  } finally {
    await load.close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

async function failOver(
  kind: Kind,
  data: string,
  sentinel: RedisSentinel,
  load: ChargeLoad,
): Promise<number> {
  const master = await sentinel.master()
  const since = performance.now()
  if (kind === 'command') await sentinel.failOver()
  else process.kill(master.pid ?? Number.NaN, kind === 'kill' ? 'SIGKILL' : 'SIGSTOP')
  await sentinel.masterOtherThan(master)
  if (kind === 'kill') await startServers(data, { only: master.name })
  if (kind === 'pause') process.kill(master.pid ?? Number.NaN, 'SIGCONT')
  return (await load.nextAcknowledged()) - since
}

function report(
  done: readonly Failover[],
  acknowledged: number,
  mismatches: number,
  rate: number,
): boolean {
  print(`${done.length} failovers, ${acknowledged} acknowledged charges at ${rate} a second`)
  for (const kind of KINDS) {
    const some = done.filter((one) => one.kind === kind)
    if (some.length === 0) continue
    const times = percentiles(
      some.map(({ recoveredMs }) => recoveredMs),
      0.5,
      1,
    )
    const [p50 = '', max = ''] = times.map((ms) => (ms / 1000).toFixed(1))
    const lost = some.map((one) => one.lost)
    print(
      `${kind}: ${some.length} times; seconds to recover p50 ${p50}, max ${max}; charges lost: most ${Math.max(...lost)}, in all ${lost.reduce((a, b) => a + b, 0)}; too many: ${Math.max(0, ...lost.map((n) => -n))}`,
    )
  }
  print(`${mismatches} differences between ledger and meter`)
  return mismatches === 0 && done.every(({ lost }) => lost >= 0 && lost <= rate)
}
