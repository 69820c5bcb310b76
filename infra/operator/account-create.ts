import { creditsOption, optionCommand, walletOption } from './command.ts'

/** `account create`: an account with its key, shown this once, and its first credits. An existing one is `account_exists`. */
export const accountCreate = optionCommand({
  name: 'account create',
  usage: '--wallet <address> --credits <n>',
  options: { wallet: walletOption, credits: creditsOption(0, 1_000_000_000_000) },
  async run({ wallet, credits }, { accounts }) {
    const { apiKey, left } = await accounts.create(wallet, credits)
    return { document: { wallet, api_key: apiKey, balance_credits: left } }
  },
})
