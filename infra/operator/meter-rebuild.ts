import { optionCommand } from './command.ts'

/**
 * `meter rebuild`: loads every account's credits from the ledger into the meter, as after `ledger
 * check` has found a mismatch. Nobody is refused meanwhile.
 */
export const meterRebuild = optionCommand({
  name: 'meter rebuild',
  summary: 'Loads the credits of every account from the ledger into the meter.',
  isRecorded: true,
  async run(_options, { ledger }) {
    return { document: { accounts: await ledger.rebuildMeter() } }
  },
})
