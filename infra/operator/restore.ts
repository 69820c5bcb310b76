import { restoreBackup } from '../../pipeline/store/backup/restore-backup.ts'
import { withAudit } from './audit-log.ts'
import { locationOption, requireServer, secondsSince, summaryOf } from './backup.ts'
import { optionCommand } from './command.ts'

/**
 * `restore --from <location>`: restores a backup into an empty database, while no process of the
 * service runs (rule K17). It is recorded in the restored audit log when the tables are back.
 */
export const restoreCommand = {
  ...optionCommand({
    name: 'restore',
    summary: 'Restores a backup into an empty database, while the service is stopped.',
    usage: '--from <location>',
    options: { from: locationOption },
    async run({ from }, { store, stop, ledger, caller }, report) {
      requireServer(store)
      const started = performance.now()
      let credits = {}
      const manifest = await restoreBackup(store, {
        from,
        stop,
        onFiles: (done) => report({ what: 'files', done, total: null }),
        onTable: (done, total) => report({ what: 'tables verified', done, total }),
        async beforeEnd() {
          const action = {
            caller,
            command: 'restore',
            arguments: ['--from', from.text],
            reason: '',
          }
          await withAudit(store, action, async () => {
            credits = await ledger.recoverFromMeter()
          })
        },
      })
      const document = { from: from.text, ...summaryOf(manifest), ...credits }
      return { document: { ...document, seconds: secondsSince(started) } }
    },
  }),
  leavesSchema: () => true, // the database is empty
}
