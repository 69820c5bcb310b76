import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createBackup } from '../../pipeline/store/backup/create-backup.ts'
import { parseLocation } from '../../pipeline/store/backup/location.ts'
import type { Manifest } from '../../pipeline/store/backup/manifest.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { optionCommand } from './command.ts'

/** `--to`, `--from`, `--base`: where the ClickHouse server keeps a backup. */
export const locationOption = z.string().transform((text, context) => {
  const location = parseLocation(text)
  if (location !== null) return location
  context.addIssue({
    code: 'custom',
    message:
      'expected a path on the disk `backups` of ClickHouse, disk://DISK/PATH or s3://BUCKET/PATH',
  })
  return z.NEVER
})

/**
 * `backup --to <location> [--base <location>]`: backs up all tables while the service runs (rule
 * K17), all or what the backup at `--base` does not have. Prints what the backup contains.
 */
export const backupCommand = optionCommand({
  name: 'backup',
  summary: 'Backs up every table of ClickHouse while the service runs.',
  usage: '--to <location> [--base <location>]',
  options: { to: locationOption, base: locationOption.optional() },
  isRecorded: true,
  async run({ to, base = null }, { store, stop }, report) {
    requireServer(store)
    const started = performance.now()
    const onFiles = (done: number) => report({ what: 'files', done, total: null })
    const manifest = await createBackup(store, { to, base, now: Date.now, stop, onFiles })
    return { document: { to: to.text, ...summaryOf(manifest), seconds: secondsSince(started) } }
  },
})

/** Rejects with `bad_config` unless the store is a server: chDB cannot write backups. */
export function requireServer(store: Store): void {
  if (store.kind === 'clickhouse') return
  throw new ServiceError(
    'bad_config',
    'the embedded store has no backups: stop the service and copy DATA_DIR, or set CLICKHOUSE_URL',
  )
}

/** What `backup` and `restore` print of a manifest. */
export function summaryOf({ tables, schema, ...manifest }: Manifest) {
  return {
    ...manifest,
    schema: schema.at(-1)?.name ?? null,
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + BigInt(rows), 0n).toString(),
  }
}

/** Seconds since `started`, which is of `performance.now()`, with one decimal. */
export function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10
}
