import { ServiceError, type ServiceErrorCode } from '../../pipeline/domain/service-error.ts'
import { accountCreate } from './account-create.ts'
import { accountCredit } from './account-credit.ts'
import { backfill } from './backfill.ts'
import type { Command, Outcome } from './command.ts'
import { deposits, depositsAssign } from './deposits.ts'
import { ledgerCheck } from './ledger-check.ts'
import type { OperatorParts } from './parts.ts'
import { programs } from './programs.ts'
import type { Report } from './progress.ts'
import { recompute } from './recompute.ts'
import { redecodeCommand } from './redecode.ts'
import { signalsBacktest } from './signals-backtest.ts'
import { sql } from './sql.ts'
import { wallets } from './wallets.ts'

/** Every operator command, in the order of the usage text. */
const COMMANDS: readonly Command[] = [
  accountCreate,
  accountCredit,
  wallets,
  backfill,
  recompute,
  redecodeCommand,
  programs,
  signalsBacktest,
  depositsAssign, // before the command whose name its own begins with
  deposits,
  ledgerCheck,
  sql,
]

/** How the commands are used that begin with the words of `args`; all, where none does. */
export function usageOf(args: readonly string[]): string {
  const named = find(args)?.command
  const alike = alikeTo(args)
  const told = named !== undefined ? [named] : alike.length > 0 ? alike : COMMANDS
  return [
    'usage: npm run -s operator -- COMMAND',
    ...told.map(({ name, usage }) => `  ${name} ${usage}`.trimEnd()),
    'What each does and prints: infra/operator/README.md',
  ].join('\n')
}

/** The usage that `help`, `--help` or `COMMAND --help` asks for; null: it is another thing that is asked. */
export function helpOf(args: readonly string[]): string | null {
  if (args[0] === 'help') return usageOf(args.slice(1))
  const flag = args.at(-1)
  return flag === '--help' || flag === '-h' ? usageOf(args.slice(0, -1)) : null
}

/** The name of the command that `args` give; null when there is none. */
export function nameOf(args: readonly string[]): string | null {
  return find(args)?.command.name ?? null
}

/** What whoever names no command is refused with: the words that look like one, and which there are. */
export function noCommand(args: readonly string[]): ServiceError {
  const isWord = (arg: string) => /^[a-z-]{1,20}$/.test(arg)
  const [first = '', second = ''] = args
  const given = [first, isWord(first) ? second : ''].filter(isWord).join(' ')
  const alike = alikeTo(args).map(({ name }) => name)
  const hint = alike.length > 0 ? `there is ${alike.join(', ')}` : '--help lists them'
  const what = args.length === 0 ? 'no command was given' : `no such command: ${given}`.trim()
  return new ServiceError('invalid_argument', `${what} (${hint})`)
}

/** Runs the command that `args` name. Rejects with `invalid_argument` when there is none. */
export function runCommand(
  args: readonly string[],
  parts: OperatorParts,
  report: Report,
): Promise<Outcome> {
  const named = find(args)
  return named === null
    ? Promise.reject(noCommand(args))
    : named.command.run(named.rest, parts, report)
}

/** The same arguments for a process that may run in another folder, and for another time. */
export function portableArgs(args: readonly string[]): readonly string[] {
  const named = find(args)
  if (named?.command.portable === undefined) return args
  return [...named.command.name.split(' '), ...named.command.portable(named.rest)]
}

/** What a command that failed prints; where it may have been done all the same, how to give it again. `args`: portable ones. */
export function failureOf(
  { code, message }: { readonly code: ServiceErrorCode; readonly message: string },
  args: readonly string[],
): { readonly code: ServiceErrorCode; readonly message: string } {
  const named = UNCLEAR.has(code) ? find(args) : null
  const hint = named?.command.ifUnclear?.(named.rest)
  return { code, message: hint === undefined ? message : `${message}; ${hint}` }
}

const UNCLEAR: ReadonlySet<ServiceErrorCode> = new Set([
  'unreachable',
  'unavailable',
  'closed',
  'internal',
])

function alikeTo([word]: readonly string[]): readonly Command[] {
  return COMMANDS.filter(({ name }) => name.split(' ')[0] === word)
}

function find(args: readonly string[]) {
  for (const command of COMMANDS) {
    const words = command.name.split(' ')
    if (words.every((word, at) => args[at] === word))
      return { command, rest: args.slice(words.length) }
  }
  return null
}
