import { percentiles, print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { WHY_NO_SERVERS } from '../whole-service/deployment.ts'
import { IngestPair } from '../whole-service/ingest-pair.ts'

const USAGE = `npm run -s drill -- ingest-failover [options]

Runs two ingests on a simulated market and real servers (KAFKA_BROKERS, CLICKHOUSE_URL and REDIS_URL,
as infra/servers prints them), and takes the leader away again and again: killed (SIGKILL), or
suspended (SIGSTOP) until the other one has taken over. Measures how long the log gets no slot: from
the last slot of the former leader to the first one of the next. Exits with 1 if the log is not the
market's truth, each slot and event once.

  --rounds N        losses of each kind (20)
  --seed N          of the market (1)`

/** Runs the drill. Returns whether nothing was lost or doubled. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { rounds: 20, seed: 1 })
  if (read === null) return true
  if (WHY_NO_SERVERS !== '') throw new Error(WHY_NO_SERVERS)
  const { rounds, seed } = read.options
  const simulator = await startSimulator({ seed, wallets: 5, coins: 20, trackedPerSlot: 3 })
  const pair = await IngestPair.start(simulator)
  try {
    printHead('leader', 'losses', 'p50 ms', 'p99 ms', 'max ms')
    for (const how of ['kill', 'suspend'] as const) {
      const gaps: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        await pair.pass(3)
        gaps.push((await pair.lose(how)).gapMs)
      }
      const times = percentiles(gaps, 0.5, 0.99, 1).map(Math.round)
      printRow(how === 'kill' ? 'killed' : 'suspended', rounds, ...times)
    }
    await pair.pass(5)
    const faults = pair.audit.faults(simulator)
    print(`${pair.audit.arrivals.length} slots on the log, ${faults.length} faults`)
    for (const fault of faults.slice(0, 20)) print(`FAULT ${fault}`)
    return faults.length === 0
  } finally {
    await pair.remove()
    await simulator.close()
  }
}
