import { ServiceError } from '../../pipeline/domain/service-error.ts'
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
  depositsAssign, // before the command whose name its own begins with
  deposits,
  ledgerCheck,
  sql,
]

/** What an operator who typed something else is told. */
export const USAGE = [
  'usage: npm run -s operator -- COMMAND',
  ...COMMANDS.map(({ name, usage }) => `  ${name} ${usage}`.trimEnd()),
].join('\n')

/** Runs the command that `args` name. Rejects with `invalid_argument` and the usage when there is none. */
export function runCommand(
  args: readonly string[],
  parts: OperatorParts,
  report: Report,
): Promise<Outcome> {
  for (const command of COMMANDS) {
    const words = command.name.split(' ')
    if (words.every((word, at) => args[at] === word)) {
      return command.run(args.slice(words.length), parts, report)
    }
  }
  return Promise.reject(new ServiceError('invalid_argument', `no such command\n${USAGE}`))
}
