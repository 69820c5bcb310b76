import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Command,
  creditChangeOption,
  optionCommand,
  reasonOption,
  walletOption,
} from './command.ts'
import { requireConfirmation } from './confirmation.ts'

/**
 * `account credit`: adds a ledger entry to an account, once per `--key` (idempotency key). Negative
 * credits take away, down to zero. The caller's process makes a missing key, and shows it when the
 * response is lost, so that the command can be repeated. Rejects with `account_not_found`, and with
 * `confirmation_required` for a large change without the code of `account confirm`.
 */
export const accountCredit: Command = {
  ...optionCommand({
    name: 'account credit',
    summary: 'Adds credits to an account, or takes them away.',
    usage:
      '--wallet <address> --credits <n, or -n to take away> --reason <text> [--key <key>] [--confirm <code>]',
    options: {
      wallet: walletOption,
      credits: creditChangeOption,
      reason: reasonOption,
      key: z
        .string()
        .regex(/^[\w-]{1,100}$/, 'expected at most 100 letters, digits, - and _')
        .default(() => randomUUID()),
      confirm: z.string().optional(),
    },
    isRecorded: true,
    async run({ wallet, credits, reason, key, confirm }, parts) {
      const { accounts, confirmAboveCredits: above } = parts
      requireConfirmation({ wallet, credits, reason }, confirm, { above, nowMs: Date.now() })
      const balance_credits = await accounts.adjust(wallet, credits, reason, `operator:${key}`)
      return { document: { wallet, balance_credits } }
    },
  }),
  portable: (args) => (keyOf(args) === undefined ? [...args, '--key', randomUUID()] : args),
  retryHint: (args) => `with --key ${keyOf(args)} the command can be repeated and credits once`,
}

function keyOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--key')
  return at < 0 ? args.find((word) => word.startsWith('--key='))?.slice(6) : args[at + 1]
}
