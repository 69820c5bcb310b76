import { optionCommand } from './command.ts'

/** `ledger check`: compares the ledger with the meter, account by account; exits 1 when they differ anywhere. */
export const ledgerCheck = optionCommand({
  name: 'ledger check',
  usage: '',
  options: {},
  async run(_options, { ledger }) {
    const document = await ledger.check()
    return { document, failed: document.mismatches.length > 0 }
  },
})
