import { z } from 'zod'
import { creditsOption, optionCommand, reasonOption, walletOption } from './command.ts'
import { requireConfirmation } from './confirmation.ts'

/**
 * `account create`: creates an account with its first credits and prints its API key, which is
 * never shown again. Rejects with `account_exists`, and with `confirmation_required` for many
 * credits without the code of `account confirm`.
 */
export const accountCreate = optionCommand({
  name: 'account create',
  summary: 'Creates an account and prints its API key, which is shown only once.',
  usage: '--wallet <address> --credits <n> [--reason <text>] [--confirm <code>]',
  options: {
    wallet: walletOption,
    credits: creditsOption(0, 1_000_000_000_000),
    reason: reasonOption.optional(),
    confirm: z.string().optional(),
  },
  makesDatabase: true,
  isRecorded: true,
  async run({ wallet, credits, reason = '', confirm }, { accounts, confirmAboveCredits: above }) {
    requireConfirmation({ wallet, credits, reason }, confirm, { above, nowMs: Date.now() })
    const { apiKey, left } = await accounts.create(wallet, credits)
    return { document: { wallet, api_key: apiKey, balance_credits: left } }
  },
})
