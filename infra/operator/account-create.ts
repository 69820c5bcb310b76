import { z } from 'zod'
import { creditsOption, optionCommand, reasonOption, walletOption } from './command.ts'
import { requireConfirmation } from './confirmation.ts'

/**
 * `account create`: an account with its key, shown this once, and its first credits. An existing
 * one is `account_exists`; many credits without the code of `account confirm` are
 * `confirmation_required`.
 */
export const accountCreate = optionCommand({
  name: 'account create',
  usage: '--wallet <address> --credits <n> [--reason <text>] [--confirm <code>]',
  options: {
    wallet: walletOption,
    credits: creditsOption(0, 1_000_000_000_000),
    reason: reasonOption.optional(),
    confirm: z.string().optional(),
  },
  isRecorded: true,
  async run({ wallet, credits, reason = '', confirm }, { accounts, confirmAboveCredits: above }) {
    requireConfirmation({ wallet, credits, reason }, confirm, { above, nowMs: Date.now() })
    const { apiKey, left } = await accounts.create(wallet, credits)
    return { document: { wallet, api_key: apiKey, balance_credits: left } }
  },
})
