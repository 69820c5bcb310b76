import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import {
  ALL_TROUBLE,
  NO_TROUBLE,
  type RecordedOptions,
  type SimulatorOptions,
  type Trouble,
} from './options.ts'
import { startSimulator } from './simulator.ts'

const USAGE = `npm run -s simulator -- [options]

  --host A                  address of this machine to listen on (127.0.0.1)
  --port P --rpc-port Q     ports of the gRPC and the RPC server (any free ones)
  --seed N                  of the market and of trouble (1)
  --wallets N --coins N     size of the market (25, 200)
  --tracked-per-slot N      transactions of tracked wallets a slot (1.5)
  --others-per-slot N       transactions of others a slot (6)
  --wallets-file F          write the tracked wallets there, one a line
  --speed N                 so many times as fast as the wall clock (1: slots follow the wall clock)
  --history-slots N         how far RPC goes back (9000)
  --history-hours N         hours of compressed history before the start (0)
  --blocks F [--blocks F]   play recorded blocks instead of the market
  --split N                 cut each recorded block into N slots (1)
  --lead-in N               empty slots before the first recorded block (0)
  --trouble LIST            all, or some of ${Object.keys(NO_TROUBLE).join(',')}`

/**
 * Starts the simulator as a separate program. It writes the environment to use to stdout and ends
 * at SIGTERM or SIGINT.
 */
async function main(): Promise<void> {
  const logger = createLogger('info')
  const { options, walletsFile } = readArguments(process.argv.slice(2))
  const simulator = await startSimulator(options)
  const lines = {
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    PAYMENT_ADDRESS_PRO: simulator.paymentAddresses.pro,
    PAYMENT_ADDRESS_CREDITS: simulator.paymentAddresses.credits,
    ...(walletsFile !== undefined && { WALLETS_FILE: walletsFile }),
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

const TEXT = { type: 'string' } as const
/** Those not named in `readArguments` are numbers, called after the option that each sets. */
const FLAGS = {
  help: { type: 'boolean' },
  'wallets-file': TEXT,
  blocks: { type: 'string', multiple: true },
  trouble: TEXT,
  host: TEXT,
  port: TEXT,
  'rpc-port': TEXT,
  seed: TEXT,
  wallets: TEXT,
  coins: TEXT,
  'tracked-per-slot': TEXT,
  'others-per-slot': TEXT,
  'history-slots': TEXT,
  'history-hours': TEXT,
  speed: TEXT,
  split: TEXT,
  'lead-in': TEXT,
} as const

/** Reads the command line; throws for a bad value, and ends the process after `--help`. */
function readArguments(args: readonly string[]): {
  options: SimulatorOptions
  walletsFile: string | undefined
} {
  const { values } = parseArgs({ args: [...args], options: FLAGS })
  const { help, blocks, trouble, host, 'wallets-file': walletsFile, ...texts } = values
  if (help === true) {
    process.stderr.write(`${USAGE}\n`)
    process.exit(0)
  }
  const { speed, split, leadIn, ...sizes } = readNumbers(texts)
  const options: SimulatorOptions = {
    ...sizes,
    ...(host !== undefined && { host }),
    ...(trouble !== undefined && { trouble: readTrouble(trouble) }),
    ...(speed !== undefined && { clock: { kind: 'running', speed } }),
    ...(blocks !== undefined && {
      recorded: {
        files: blocks.flatMap((list) => list.split(',')),
        ...(split !== undefined && { split }),
        ...(leadIn !== undefined && { leadIn }),
      },
    }),
  }
  return { options, walletsFile }
}

type Numbers = Pick<RecordedOptions, 'split' | 'leadIn'> &
  Omit<SimulatorOptions, 'clock' | 'recorded' | 'trouble'> & { readonly speed?: number }

/** The numbers of flags by the names of options: `--rpc-port` is `rpcPort`. */
function readNumbers(texts: Readonly<Record<string, string>>): Numbers {
  const entries = Object.entries(texts).map(([flag, text]) => {
    const value = Number(text)
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${flag}: expected a number`)
    return [flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()), value]
  })
  return Object.fromEntries(entries)
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
