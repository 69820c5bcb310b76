import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { ALL_TROUBLE, NO_TROUBLE, type SimulatorOptions, type Trouble } from './options.ts'
import { startSimulator } from './simulator.ts'

const USAGE = `npm run -s simulator -- [options]

  --port P --rpc-port Q     ports of the gRPC and the RPC server (any free ones)
  --host H                  address to listen on (127.0.0.1)
  --x-token T               clients must send it
  --seed N                  of the market and of trouble (1)
  --wallets N --coins N     size of the market (25, 200); with --blocks: how many fee payers are tracked (100)
  --tracked-per-slot N      transactions of tracked wallets a slot (1.5)
  --others-per-slot N       transactions of others a slot (6)
  --wallets-file F          write the tracked wallets there, one a line
  --speed N                 so many times as fast as the wall clock (1: slots follow the wall clock)
  --start-slot N            with --speed: where to begin
  --replay-slots N          how far from_slot goes back (1000)
  --history-slots N         how far RPC goes back (9000)
  --history-hours N         hours of compressed history before the start (0)
  --blocks F [--blocks F]   play recorded blocks instead of the market
  --renumber N              first slot number of recorded blocks (their own)
  --split N                 cut each recorded block into N slots (1)
  --lead-in N               empty slots before the first recorded block (0)
  --time-from T             unix seconds of the first recorded slot (their own times)
  --trouble LIST            all, or some of ${Object.keys(NO_TROUBLE).join(',')}`

/**
 * Starts the simulator as a program of its own. It writes the environment to use to stdout and ends
 * at SIGTERM or SIGINT.
 */
async function main(): Promise<void> {
  const logger = createLogger('info')
  const { options, walletsFile } = readArguments(process.argv.slice(2))
  const simulator = await startSimulator(options)
  const lines = {
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    ...(options.xToken === undefined ? {} : { YELLOWSTONE_X_TOKEN: options.xToken }),
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    PAYMENT_ADDRESS_PRO: simulator.paymentAddresses.pro,
    PAYMENT_ADDRESS_CREDITS: simulator.paymentAddresses.credits,
    ...(walletsFile === undefined ? {} : { WALLETS_FILE: walletsFile }),
  }
  if (walletsFile !== undefined) writeFileSync(walletsFile, `${simulator.wallets.join('\n')}\n`)
  for (const [key, value] of Object.entries(lines)) process.stdout.write(`${key}=${value}\n`)
  logger.info('simulator started')
  const stop = () => {
    void simulator.close().then(() => {
      logger.info('simulator stopped')
      process.exit(0)
    })
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

const text = { type: 'string' } as const
const FLAGS = {
  help: { type: 'boolean' },
  port: text,
  'rpc-port': text,
  host: text,
  'x-token': text,
  seed: text,
  wallets: text,
  coins: text,
  'tracked-per-slot': text,
  'others-per-slot': text,
  'wallets-file': text,
  speed: text,
  'start-slot': text,
  'replay-slots': text,
  'history-slots': text,
  'history-hours': text,
  blocks: { type: 'string', multiple: true },
  renumber: text,
  split: text,
  'lead-in': text,
  'time-from': text,
  trouble: text,
} as const

/** Reads the command line; throws for a bad value, and ends the process after `--help`. */
function readArguments(args: readonly string[]): {
  options: SimulatorOptions
  walletsFile: string | undefined
} {
  const { values } = parseArgs({ args: [...args], options: FLAGS })
  if (values.help === true) {
    process.stderr.write(`${USAGE}\n`)
    process.exit(0)
  }
  const count = (name: keyof typeof values): number | undefined => {
    const value = values[name]
    if (value === undefined) return undefined
    const parsed = Number(value)
    if (!Number.isFinite(parsed) || parsed < 0) throw new Error(`--${name}: expected a number`)
    return parsed
  }
  const given = <T extends object>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
      [K in keyof T]?: Exclude<T[K], undefined>
    }
  const speed = count('speed')
  const startSlot = count('start-slot')
  const options: SimulatorOptions = given({
    port: count('port'),
    rpcPort: count('rpc-port'),
    host: values.host,
    xToken: values['x-token'],
    seed: count('seed'),
    wallets: count('wallets'),
    coins: count('coins'),
    trackedPerSlot: count('tracked-per-slot'),
    othersPerSlot: count('others-per-slot'),
    replaySlots: count('replay-slots'),
    historySlots: count('history-slots'),
    historyHours: count('history-hours'),
    trouble: values.trouble === undefined ? undefined : readTrouble(values.trouble),
    clock:
      speed === undefined && startSlot === undefined
        ? undefined
        : { kind: 'running' as const, speed: speed ?? 1, ...given({ startSlot }) },
    recorded:
      values.blocks === undefined
        ? undefined
        : {
            files: values.blocks.flatMap((list) => list.split(',')),
            ...given({
              renumberFrom: count('renumber'),
              split: count('split'),
              leadIn: count('lead-in'),
              timeFrom: count('time-from'),
              wallets: count('wallets'),
            }),
          },
  })
  return { options, walletsFile: values['wallets-file'] }
}

function readTrouble(list: string): Partial<Trouble> {
  if (list === 'all') return ALL_TROUBLE
  const names = list.split(',').filter((name) => name !== '')
  const unknown = names.filter((name) => !(name in NO_TROUBLE))
  if (unknown.length > 0) throw new Error(`--trouble: not known: ${unknown.join(', ')}`)
  return Object.fromEntries(names.map((name) => [name, true]))
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
