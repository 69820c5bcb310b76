import { cpus, loadavg } from 'node:os'
import { PARTITIONS } from '../../pipeline/log/topics.ts'
import { foldAlone } from './fold/alone.ts'
import { benchServers } from './fold/bench-servers.ts'
import { residentWith } from './fold/memory.ts'
import { measureRebalance } from './fold/rebalance.ts'
import { measureRecompute } from './fold/recompute.ts'
import { measureRestart } from './fold/restart.ts'
import { measureStall } from './fold/stall.ts'
import { foldStored, type Pace } from './fold/stored.ts'
import { print, printHead, printRow } from './kit/figures.ts'
import { readModes } from './kit/modes.ts'
import { readOptions } from './kit/options.ts'
import { forkBench } from './kit/processes.ts'
import { type ServersKind, withServers } from './kit/servers.ts'

const USAGE = `npm run bench -- fold [PART ...] [--scale N] [--wallets N] [--partitions N]

  alone      events a second of the pure fold, with 250, 10,000 and 100,000 wallets
  stored     the same from Kafka into ClickHouse, and bytes stored
  recompute  one wallet of 1,000,000 events; 250 wallets of 1,000
  stall      slots of other wallets while a wallet of 1,000,000 events is refolded
  restart    a worker that starts on 10,000,000 stored events
  rebalance  a worker of 5,000 wallets after a rebalance, its books kept or read again
  memory     100,000 wallets of 20 positions

  --scale N       a share of the events (and of the wallets for restart, rebalance and memory), for a quick look (1)
  --wallets N     alone and stored with this number of wallets only
  --partitions N  of the log for stored (24)
  --mode M        for stored: servers or cluster, or several with commas between (servers)`

const PARTS = ['alone', 'stored', 'recompute', 'stall', 'restart', 'rebalance', 'memory'] as const
type Part = (typeof PARTS)[number]

/**
 * Cost of the fold, part by part, each beside its target. Parts that need servers use those of the
 * environment; otherwise they are started here and stopped at the end.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, {
    scale: 1,
    wallets: 0,
    partitions: PARTITIONS,
    mode: 'servers',
    resident: false,
  })
  if (read === null) return
  const { options, words } = read
  const { scale, partitions } = options
  const modes = readModes(options.mode, ['servers', 'cluster'])
  if (modes === null) return print(USAGE)
  const wanted = words.length === 0 ? PARTS : PARTS.filter((part) => words.includes(part))
  if (words.some((word) => !PARTS.some((part) => part === word))) return print(USAGE)
  if (options.resident) {
    process.send?.(await residentWith(Math.round(100_000 * scale), 20))
    return
  }
  print(`${cpus().length} cores, load average of the last minute ${loadavg()[0]?.toFixed(1)}\n`)
  printHead('what', 'measured', 'aim')
  const wallets = options.wallets === 0 ? [250, 10_000, 100_000] : [options.wallets]
  for (const part of wanted) await MEASURES[part](scale, wallets, partitions, modes)
}

const MEASURES: Readonly<
  Record<
    Part,
    (
      scale: number,
      numbersOfWallets: readonly number[],
      partitions: number,
      modes: readonly ServersKind[],
    ) => Promise<void>
  >
> = {
  async alone(_scale, numbersOfWallets) {
    for (const wallets of numbersOfWallets) {
      const rate = foldAlone(wallets)
      printRow(
        `fold alone, ${count(wallets)} wallets`,
        `${count(rate)} events/s of CPU`,
        '>= 300,000',
      )
    }
  },
  async stored(scale, numbersOfWallets, partitions, modes) {
    for (const mode of modes)
      await withServers(async (env) => {
        for (const wallets of numbersOfWallets) {
          const { first, then, all, bytesPerSwap, bytesPerEvent } = await foldStored(
            benchServers(env),
            {
              wallets,
              events: Math.round(300_000 * scale),
              partitions,
            },
          )
          const rateOf = ({ events, seconds, cpuUs }: Pace) =>
            events === 0
              ? 'nothing left, all were in one flush'
              : `${count(events / seconds)} events/s (${cpuUs.toFixed(0)} us of this process's CPU each)`
          const what = `Kafka to ClickHouse, ${mode}, ${count(wallets)} wallets`
          printRow(`${what}: from a start until each was seen`, rateOf(first), '')
          printRow(`${what}: then`, rateOf(then), '')
          const aim = wallets < 100_000 ? '50,000' : '35,000'
          printRow(`${what}: all, with the start`, rateOf(all), `>= ${aim}`)
          const bytes = `${bytesPerSwap.toFixed(0)} a swap; ${bytesPerEvent.toFixed(0)} an event in all tables`
          printRow(`bytes stored, ${mode}, ${count(wallets)} wallets`, bytes, '')
        }
      }, mode)
  },
  recompute: (scale) =>
    withServers(async (env) => {
      for (const [wallets, each, aim] of [
        [1, 1_000_000, 15],
        [250, 1000, 10],
      ] as const) {
        const eventsPerWallet = Math.round(each * scale)
        const seconds = await measureRecompute(benchServers(env), { wallets, eventsPerWallet })
        const what = `recompute ${count(wallets)} x ${count(eventsPerWallet)} events`
        printRow(what, `${seconds.toFixed(1)} s`, `< ${aim} s`)
      }
    }),
  stall: (scale) =>
    withServers(async (env) => {
      const history = { wallets: 1, eventsPerWallet: Math.round(1_000_000 * scale) }
      for (const isInFlush of [true, false]) {
        const { refoldSeconds, medianSeconds, longestSeconds, slots } = await measureStall(
          benchServers(env),
          history,
          { isInFlush },
        )
        const where = isInFlush ? 'in one flush' : 'in the background'
        printRow(
          `refold of ${count(history.eventsPerWallet)} events ${where}: slots of others meanwhile`,
          `longest ${longestSeconds.toFixed(2)} s, median ${medianSeconds.toFixed(2)} s of ${slots}; refold ${refoldSeconds.toFixed(1)} s`,
          isInFlush ? '' : '< 1 s',
        )
      }
    }),
  restart: (scale) =>
    withServers(async (env) => {
      const history = { wallets: Math.round(10_000 * scale), eventsPerWallet: 1000 }
      const { readySeconds, allSeconds } = await measureRestart(benchServers(env), history)
      const what = `restart on ${count(history.wallets * history.eventsPerWallet)} stored events`
      printRow(`${what}, first slot stored`, `${readySeconds.toFixed(1)} s`, '< 10 s')
      printRow(
        `then a slot of all ${count(history.wallets)} wallets`,
        `${allSeconds.toFixed(1)} s`,
        '',
      )
    }),
  rebalance: (scale) =>
    withServers(async (env) => {
      const history = { wallets: Math.round(5000 * scale), eventsPerWallet: 300 }
      const measured = await measureRebalance(benchServers(env), history)
      for (const [how, { firstSeconds, allSeconds }] of [
        ['books kept', measured.kept],
        ['books read again', measured.missed],
      ] as const) {
        const what = `rebalance of ${count(history.wallets)} wallets, ${how}`
        printRow(`${what}: first slot stored`, `${(firstSeconds * 1000).toFixed(0)} ms`, '')
        printRow(`${what}: then a slot of all`, `${(allSeconds * 1000).toFixed(0)} ms`, '')
      }
    }),
  async memory(scale) {
    // Without a limit, garbage grows with the memory of the machine.
    const execArgv = ['--max-old-space-size=1536', '--max-semi-space-size=64']
    const args = ['fold', '--resident', '--scale', String(scale)]
    const { message: bytes } = await forkBench<number>(args, execArgv)
    const what = `memory of ${count(100_000 * scale)} wallets of 20 positions, ${execArgv[0]}`
    printRow(what, `${(bytes / 2 ** 30).toFixed(2)} GiB resident`, '< 2 GiB')
  },
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
