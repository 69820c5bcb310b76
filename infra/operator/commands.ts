import { createHash } from 'node:crypto'
import { ServiceError, type ServiceErrorCode } from '../../pipeline/domain/service-error.ts'
import { accountConfirm } from './account-confirm.ts'
import { accountCreate } from './account-create.ts'
import { accountCredit } from './account-credit.ts'
import { accountDisable, accountEnable } from './account-disable.ts'
import { accountKeysDelete, accountNamedKeys } from './account-keys.ts'
import { accountRotate } from './account-rotate.ts'
import { accountList, accountShow } from './account-show.ts'
import { actionsCommand } from './actions.ts'
import { audit } from './audit.ts'
import { withAudit } from './audit-log.ts'
import { backfill } from './backfill.ts'
import { backupCommand } from './backup.ts'
import { type Command, type CommandResult, isValue } from './command.ts'
import { deposits, depositsAssign } from './deposits.ts'
import { exportCommand } from './export.ts'
import { labelsDiff } from './labels-diff.ts'
import { ledgerCheck } from './ledger-check.ts'
import { meterRebuild } from './meter-rebuild.ts'
import { migrateCommand } from './migrate.ts'
import type { OperatorParts } from './parts.ts'
import { probe } from './probe.ts'
import { programs } from './programs.ts'
import type { Report } from './progress.ts'
import { recomputeCommand } from './recompute.ts'
import { reconcile } from './reconcile.ts'
import { redecodeCommand } from './redecode.ts'
import { repartitionCommand } from './repartition.ts'
import { restoreCommand } from './restore.ts'
import { signalsBacktest } from './signals-backtest.ts'
import { sql } from './sql.ts'
import { walletsCommand } from './wallets.ts'

/** Every operator command, in the order of the usage text. */
const COMMANDS: readonly Command[] = [
  accountCreate,
  accountCredit,
  accountConfirm,
  accountShow,
  accountList,
  accountRotate,
  accountKeysDelete, // before the command whose name its own begins with
  accountNamedKeys,
  accountDisable,
  accountEnable,
  walletsCommand,
  backfill,
  recomputeCommand,
  redecodeCommand,
  programs,
  labelsDiff,
  signalsBacktest,
  depositsAssign, // before the command whose name its own begins with
  deposits,
  ledgerCheck,
  meterRebuild,
  reconcile,
  audit,
  probe,
  actionsCommand,
  migrateCommand,
  repartitionCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  { ...sql, recorded: digestOf },
]

/** Usage of the commands that begin with the first word of `args`; of all if there is none. */
export function usageOf(args: readonly string[]): string {
  const named = find(args)?.command
  const alike = alikeTo(args)
  const shown = named !== undefined ? [named] : alike.length > 0 ? alike : COMMANDS
  return [
    'usage: npm run -s operator -- COMMAND',
    ...shown.flatMap(({ name, summary, usage, recorded, readsReason = false }) => {
      const reason = recorded !== undefined && !readsReason ? ' [--reason <text>]' : ''
      return [`  ${name} ${usage}`.trimEnd() + reason, `      ${summary}`]
    }),
    'Details and output of each command: infra/operator/commands.md',
  ].join('\n')
}

/** The usage that `help`, `--help` or `COMMAND --help` asks for; null for other arguments. */
export function helpOf(args: readonly string[]): string | null {
  if (args[0] === 'help') return usageOf(args.slice(1))
  const flag = args.at(-1)
  return flag === '--help' || flag === '-h' ? usageOf(args.slice(0, -1)) : null
}

/** The name of the command in `args`; null if there is none. */
export function nameOf(args: readonly string[]): string | null {
  return find(args)?.command.name ?? null
}

/** Whether the command in `args` may make the database of an embedded store. */
export function makesDatabase(args: readonly string[]): boolean {
  return find(args)?.command.makesDatabase === true
}

/** Whether the command in `args` runs on a database as it is, without new files of `sql/`. */
export function leavesSchema(args: readonly string[]): boolean {
  const named = find(args)
  return named?.command.leavesSchema?.(named.rest) === true
}

/** The error for `args` without a command. It names what was given, and similar commands. */
export function noCommand(args: readonly string[]): ServiceError {
  const isWord = (arg: string) => /^[a-z-]{1,20}$/.test(arg)
  const [first = '', second = ''] = args
  const given = [first, isWord(first) ? second : ''].filter(isWord).join(' ')
  const alike = alikeTo(args).map(({ name }) => name)
  const hint = alike.length > 0 ? `there is ${alike.join(', ')}` : '--help lists them'
  const what = args.length === 0 ? 'no command was given' : `no such command: ${given}`.trim()
  return new ServiceError('invalid_argument', `${what} (${hint})`)
}

/**
 * Runs the command in `args`; a recorded command runs between its two rows of the audit log.
 * Rejects with `invalid_argument` if there is no such command. If the first row cannot be stored,
 * it rejects with the store's error and the command does not run.
 */
export async function runCommand(
  args: readonly string[],
  parts: OperatorParts,
  report: Report,
): Promise<CommandResult> {
  const named = find(args)
  if (named === null) throw noCommand(args)
  const { command, rest } = named
  if (command.recorded === undefined) return command.run(rest, parts, report)
  const { reason, others } = takeReason(rest, command.flags)
  const { store, caller } = parts
  const action = { caller, command: command.name, arguments: command.recorded(others), reason }
  return withAudit(store, action, () =>
    command.run(command.readsReason ? rest : others, parts, report),
  )
}

/** Whether the command in `args` runs without the data of the service. */
export function isStandalone(args: readonly string[]): boolean {
  return find(args)?.command.isStandalone ?? false
}

/** Runs a command for which `isStandalone` holds, until it ends or `stop` aborts. */
export function runStandalone(
  args: readonly string[],
  stop: AbortSignal,
  report: Report,
): Promise<CommandResult> {
  // The cast is safe: a standalone command uses nothing else.
  return runCommand(args, { stop } as OperatorParts, report)
}

/** Splits `--reason <text>` from the other arguments. */
function takeReason(args: readonly string[], flags: readonly string[] = []) {
  const at = args.findIndex((word) => /^--reason(=|$)/.test(word))
  const word = args[at]
  if (word === undefined) return { reason: '', others: args }
  if (word !== '--reason')
    return { reason: word.slice('--reason='.length), others: args.toSpliced(at, 1) }
  if (!isValue(args, at + 1, flags))
    throw new ServiceError('invalid_argument', '--reason: expected a text')
  return { reason: args[at + 1] ?? '', others: args.toSpliced(at, 2) }
}

/** The arguments of `sql` for the audit log: length and digest, as a query may name a wallet. */
function digestOf(args: readonly string[]): readonly string[] {
  return args.map((text) => {
    const digest = createHash('sha256').update(text).digest('hex')
    return `${text.length} characters, sha256 ${digest}`
  })
}

/**
 * The arguments of the dry run that comes before a command that cannot be undone; null for other
 * commands.
 */
export function dryRunOf(args: readonly string[]): readonly string[] | null {
  const isDry = args.includes('--dry-run')
  return find(args)?.command.asksFirst && !isDry ? [...args, '--dry-run'] : null
}

/** The arguments for a process in another folder, and for a repetition of the command. */
export function portableArgs(args: readonly string[]): readonly string[] {
  const named = find(args)
  if (named?.command.portable === undefined) return args
  return [...named.command.name.split(' '), ...named.command.portable(named.rest)]
}

/**
 * The document of a failed command. If the command may have been done all the same, its message
 * says how to repeat it. `args` are portable.
 */
export function failureOf(
  { code, message }: { readonly code: ServiceErrorCode; readonly message: string },
  args: readonly string[],
): { readonly code: ServiceErrorCode; readonly message: string } {
  const named = UNCLEAR.has(code) ? find(args) : null
  const hint = named?.command.retryHint?.(named.rest)
  return { code, message: hint === undefined ? message : `${message}; ${hint}` }
}

/** Codes that do not show whether the command was done. */
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
