import { parseArgs } from 'node:util'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import {
  killServers,
  type ServerStatus,
  type StartOptions,
  serversStatus,
  startServers,
  stopServers,
} from './servers.ts'
import { type NodeName, SERVER_NAMES } from './state.ts'

const USAGE = `usage: npm run -s servers -- <command> --data DIR
  start    start the servers that do not run; print KEY=value lines   [--port-base N] [--cluster] [--only kafka|clickhouse|redis]
  stop     stop cleanly                                               [--only ...]
  restart  stop, then start                                           [--only ...]
  kill     end at once with SIGKILL                                   [--only ...]
  status   print a JSON document: how each server is; exit with 1 if one does not answer  [--only ...]
--cluster: three Kafka brokers, two ClickHouse servers behind a proxy, Redis with a replica and three
Sentinels. --only also takes one node of a cluster, such as kafka-2.
ANALYST_PASSWORD in the environment adds the read-only ClickHouse user of analysts, EXPORT_S3_URL,
EXPORT_S3_ACCESS_KEY_ID and EXPORT_S3_SECRET_ACCESS_KEY a bucket of tests for \`operator export\`.`

const COMMANDS = new Set(['start', 'stop', 'restart', 'kill', 'status'])

/** Runs real Kafka, ClickHouse and Redis servers on this machine without Docker (rule J6). */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help')) return void process.stdout.write(`${USAGE}\n`)
  const { command, dir, only, options } = readArguments(argv)
  if (command === 'kill') return killServers(dir, only)
  if (command === 'status') return printStatus(await serversStatus(dir, only))
  if (command === 'stop' || command === 'restart') await stopServers(dir, only)
  if (command === 'stop') return
  const lines = await startServers(dir, { ...options, ...only })
  for (const [key, value] of Object.entries(lines)) process.stdout.write(`${key}=${quote(value)}\n`)
}

function printStatus(items: readonly ServerStatus[]): void {
  process.stdout.write(`${JSON.stringify({ items })}\n`)
  if (items.length === 0 || items.some(({ state }) => state !== 'answers')) process.exitCode = 1
}

function readArguments(argv: readonly string[]) {
  const { positionals, values } = parseArguments(argv)
  const [command] = positionals
  if (positionals.length !== 1 || !COMMANDS.has(command ?? ''))
    throw new ServiceError('invalid_argument', USAGE)
  if (!values.data) throw new ServiceError('invalid_argument', `--data is missing\n${USAGE}`)
  const portBase = values['port-base']
  if (portBase !== undefined && !/^[0-9]{4,5}$/.test(portBase)) throw badPortBase
  if (portBase !== undefined && (Number(portBase) < 1024 || Number(portBase) > 65_000))
    throw badPortBase
  const options: StartOptions = {
    cluster: values.cluster ?? false,
    ...(portBase === undefined ? {} : { portBase: Number(portBase) }),
    ...(process.env.ANALYST_PASSWORD ? { analystPassword: process.env.ANALYST_PASSWORD } : {}),
  }
  const only = values.only === undefined ? {} : { only: readNodeName(values.only) }
  return { command, dir: values.data, only, options }
}

function parseArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        data: { type: 'string' },
        'port-base': { type: 'string' },
        cluster: { type: 'boolean' },
        only: { type: 'string' },
      },
    })
  } catch (cause) {
    throw new ServiceError('invalid_argument', `${(cause as Error).message}\n${USAGE}`, { cause })
  }
}

const badPortBase = new ServiceError('invalid_argument', '--port-base: a number from 1024 to 65000')

/** Whether the folder has such a node is known once its state is read. */
function readNodeName(text: string): NodeName {
  const isNode = (name: string): name is NodeName =>
    SERVER_NAMES.some((server) => name === server || name.startsWith(`${server}-`))
  if (isNode(text)) return text
  throw new ServiceError('invalid_argument', `--only: one of ${SERVER_NAMES.join(', ')}`)
}

/** Quotes a value for a shell. */
function quote(value: string): string {
  return /^[A-Za-z0-9@:/,._-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof ServiceError ? error.message : String((error as Error)?.stack)
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
})
