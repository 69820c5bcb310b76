import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/service-error.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../store.ts'

/** Files that ClickHouse has written or read so far. */
export type OnFiles = (done: number) => void

interface StateRow {
  readonly status: string
  readonly error: string
  readonly files: string
}

const POLL_MS = 200

/**
 * Runs a `BACKUP` or `RESTORE` statement in the background of the server, so that no timeout ends
 * it, and waits for its end. `settings` are those of the statement. Its id in system.backups begins
 * with `database`.
 *
 * Rejects with `invalid_argument` if the location already has a backup, has none, or is not allowed
 * by the server, and with `internal` for other refusals: system.backups has their text, which may
 * quote data.
 */
export async function runStatement(
  store: Store,
  statement: string,
  settings: readonly string[],
  options: {
    readonly database: string
    readonly stop: AbortSignal
    readonly onFiles?: OnFiles | undefined
  },
): Promise<void> {
  const { database, stop, onFiles } = options
  const id = `${database}:${randomUUID()}`
  await store.command(`${statement} SETTINGS ${[`id = '${id}'`, ...settings].join(', ')} ASYNC`)
  for (;;) {
    const [row] = await store.query<StateRow>(
      `SELECT toString(status) AS status, error, ${statement.startsWith('BACKUP') ? 'num_files' : 'files_read'} AS files
       FROM system.backups WHERE id = {id:String} LIMIT 1`,
      { id },
    )
    if (row === undefined) throw new ServiceError('unavailable', 'ClickHouse was restarted')
    if (row.status === 'BACKUP_CREATED' || row.status === 'RESTORED') return
    if (row.error !== '') throw failure(row.error)
    onFiles?.(Number(row.files))
    if (stop.aborted) throw new ServiceError('closed', 'stopped', { retriable: true })
    await pause(POLL_MS, stop)
  }
}

/** Explains ClickHouse's error. Source of the codes: ErrorCodes.cpp. */
function failure(text: string): ServiceError {
  const code = Number(/Code: ([0-9]+)\./.exec(text)?.[1] ?? 0)
  const known = MESSAGES[code]
  return known === undefined
    ? new ServiceError('internal', `ClickHouse failed (code ${code}); system.backups has its text`)
    : new ServiceError('invalid_argument', known, { context: { code } })
}

const MESSAGES: Readonly<Record<number, string>> = {
  36: 'the server does not know this place: backups.allowed_disk names its disks, and a bucket is the named collection backup_BUCKET (docs/operating.md)',
  318: 'the server has no backups.allowed_disk',
  479: 'the server has no disk of this name',
  499: 'the bucket refuses ClickHouse: see that it exists, and that the keys of its named collection may read and write it',
  598: 'there is a backup already: name a new location',
  599: 'there is no complete backup at this location, or at the one that it is based on',
  600: 'the base is another backup than the one that this backup was made on',
  605: 'it is no backup of this service',
}
