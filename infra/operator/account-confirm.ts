import { creditChangeOption, optionCommand, reasonOption, walletOption } from './command.ts'
import { confirmationOf } from './confirmation.ts'

/** `account confirm`: prints the code that allows one large change of credits. Changes nothing. */
export const accountConfirm = optionCommand({
  name: 'account confirm',
  summary: 'Prints the code that a large change of credits needs.',
  usage: '--wallet <address> --credits <n, or -n to take away> --reason <text>',
  options: { wallet: walletOption, credits: creditChangeOption, reason: reasonOption },
  isRecorded: true,
  async run({ wallet, credits, reason }) {
    const { code, expiresAt } = confirmationOf({ wallet, credits, reason }, Date.now())
    return { document: { wallet, credits, reason, code, expires_at: expiresAt } }
  },
})
