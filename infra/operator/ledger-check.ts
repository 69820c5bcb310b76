import { readTwiceRedeemed } from '../../api/billing/twice-redeemed.ts'
import { optionCommand } from './command.ts'

/**
 * `ledger check`: compares the ledger with the meter, account by account, and looks for deposits
 * that were redeemed more than once. Exits with 1 when it finds a mismatch.
 */
export const ledgerCheck = optionCommand({
  name: 'ledger check',
  summary: 'Compares the ledger with the meter, and looks for deposits redeemed twice.',
  async run(_options, { ledger, store }) {
    const { accounts, mismatches: differing } = await ledger.check()
    const twice = (await readTwiceRedeemed(store)).map((deposit) => ({
      what: 'redeemed_twice',
      ...deposit,
    }))
    const mismatches = [...differing, ...twice]
    return { document: { accounts, mismatches }, failed: mismatches.length > 0 }
  },
})
