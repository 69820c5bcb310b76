import { type Command, optionCommand, walletOption } from './command.ts'

/**
 * `account disable`: refuses the key and the dashboard tokens of an account at once, in every
 * process, and closes its feed connections (rule E3). Key, credits and Pro stay. It may be
 * repeated. Rejects with `account_not_found`; with `unavailable` if a process of the API may not
 * know yet.
 */
export const accountDisable = accessCommand('disable', 'Refuses all calls of an account.')

/** `account enable`: ends what `account disable` did. Rejects as it does. */
export const accountEnable = accessCommand('enable', 'Lets a disabled account call again.')

function accessCommand(verb: 'disable' | 'enable', summary: string): Command {
  const isDisabled = verb === 'disable'
  return {
    ...optionCommand({
      name: `account ${verb}`,
      summary,
      usage: '--wallet <address>',
      options: { wallet: walletOption },
      isRecorded: true,
      async run({ wallet }, { accounts, channel }) {
        const opened = await channel() // before the change, which it has to announce
        const disabledAt = await accounts.setDisabled(wallet, isDisabled)
        await opened.accessChanged(wallet, isDisabled)
        const disabled_at = disabledAt === null ? null : Math.floor(disabledAt / 1000)
        return { document: { wallet, disabled_at } }
      },
    }),
    retryHint: () => 'the command can be repeated',
  }
}
