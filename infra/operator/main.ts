import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { readSecretFiles } from '../../pipeline/runtime/secret-files.ts'
import { type DataConfig, loadDataConfig, ownsData } from '../service/config.ts'
import { askFirst } from './ask-first.ts'
import type { CommandResult } from './command.ts'
import {
  dryRunOf,
  failureOf,
  helpOf,
  isStandalone,
  nameOf,
  noCommand,
  portableArgs,
  runStandalone,
  usageOf,
} from './commands.ts'
import { reportTo } from './progress.ts'
import { askOperator, errorReplyOf, type Reply } from './socket.ts'
import { stopOnSignal } from './stop-on-signal.ts'

/** Characters that JSON does not escape and a terminal obeys: C1 controls and direction marks. */
const TERMINAL_CONTROLS = /[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const args = portableArgs(process.argv.slice(2))
const report = reportTo(process.stderr)
const help = helpOf(process.argv.slice(2))
if (help !== null) process.stdout.write(`${help}\n`)
else {
  const reply = await run()
  print(reply)
  process.exitCode = reply.kind === 'done' && !reply.outcome.failed ? 0 : 1
}

/** Runs the command in the process that owns the data, if there is one, else here (rule J3). */
async function run(): Promise<Reply> {
  try {
    if (nameOf(args) === null) {
      process.stderr.write(`${usageOf(args)}\n`)
      throw noCommand(args)
    }
    if (isStandalone(args))
      return { kind: 'done', outcome: await runStandalone(args, stopOnSignal(), report) }
    const config = loadDataConfig(readSecretFiles(process.env))
    const preview = dryRunOf(args)
    const isSure =
      preview === null || (await askFirst(process, async () => outcomeOf(config, preview)))
    if (!isSure)
      throw new ServiceError('confirmation_required', 'not confirmed: nothing was changed')
    return { kind: 'done', outcome: await outcomeOf(config, args) }
  } catch (error) {
    return errorReplyOf(error)
  }
}

async function outcomeOf(config: DataConfig, words: readonly string[]): Promise<CommandResult> {
  const reply = ownsData(config) ? await askOperator(config.dataDir, words, report) : null
  if (reply?.kind === 'error') throw new ServiceError(reply.code, reply.message)
  if (reply !== null) return reply.outcome
  const { runHere } = await import('./run-here.ts') // which loads most of the service
  return runHere(config, words, report, fail)
}

/** Prints the one JSON document of the command on stdout. */
function print(reply: Reply): void {
  const document = reply.kind === 'done' ? reply.outcome.document : failureOf(reply, args)
  process.stdout.write(`${JSON.stringify(document).replace(TERMINAL_CONTROLS, escaped)}\n`)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function fail(error: unknown): never {
  print(errorReplyOf(error))
  process.exit(1)
}
