import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Command, creditsOption, optionCommand, walletOption } from './command.ts'

/**
 * `account credit`: adds a ledger entry to an account, once for each `--key`; negative credits take away, down to zero. An unknown account is `account_not_found`. The key is made where the command
 * was typed, so that whoever typed it can be told it when the answer is lost.
 */
export const accountCredit: Command = {
  ...optionCommand({
    name: 'account credit',
    usage: '--wallet <address> --credits <n, or -n to take away> --reason <text> [--key <key>]',
    options: {
      wallet: walletOption,
      credits: creditsOption(-1_000_000_000_000, 1_000_000_000_000),
      reason: z.string().min(1, 'expected a text').max(200, 'expected at most 200 characters'),
      key: z
        .string()
        .regex(/^[\w-]{1,100}$/, 'expected at most 100 letters, digits, - and _')
        .default(() => randomUUID()),
    },
    async run({ wallet, credits, reason, key }, { accounts }) {
      const balance_credits = await accounts.adjust(wallet, credits, reason, `operator:${key}`)
      return { document: { wallet, balance_credits } }
    },
  }),
  portable: (args) => (keyOf(args) === undefined ? [...args, '--key', randomUUID()] : args),
  ifUnclear: (args) => `with --key ${keyOf(args)} the same command credits once, however often`,
}

function keyOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--key')
  return at < 0 ? args.find((word) => word.startsWith('--key='))?.slice(6) : args[at + 1]
}
