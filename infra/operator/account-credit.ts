import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { creditsOption, optionCommand, walletOption } from './command.ts'

/** `account credit`: adds a ledger entry to an account; negative credits take away. An unknown one is `account_not_found`. */
export const accountCredit = optionCommand({
  name: 'account credit',
  usage: '--wallet <address> --credits <n> --reason <text>',
  options: {
    wallet: walletOption,
    credits: creditsOption(-1_000_000_000_000, 1_000_000_000_000),
    reason: z.string().min(1, 'expected a text').max(200, 'expected at most 200 characters'),
  },
  async run({ wallet, credits, reason }, { accounts }) {
    const balance_credits = await accounts.adjust(
      wallet,
      credits,
      reason,
      `operator:${randomUUID()}`,
    )
    return { document: { wallet, balance_credits } }
  },
})
