import { identifierOf, parseBucketPath } from '../bucket.ts'

/** A place where the ClickHouse server keeps a backup. */
export interface BackupLocation {
  /** As the operator wrote it. */
  readonly text: string
  /** As `BACKUP` and `RESTORE` name it. */
  readonly sql: string
}

/** The server's disk for backups, as `infra/clickhouse/config.d/backups.xml` names it. */
const DISK = 'backups'

/**
 * Parses a location: `PATH` on the server's disk `backups`, `disk://DISK/PATH` on another one, or
 * `s3://BUCKET/PATH`, whose address and keys are in the server's configuration alone: as the named
 * collection `backup_` and the name of the bucket, with `_` for `-` and `.`. Returns null for any
 * other text.
 */
export function parseLocation(text: string): BackupLocation | null {
  const found = parseBucketPath(text)
  if (found !== null) {
    const { bucket, prefix } = found
    return prefix === '' ? null : { text, sql: `S3(backup_${identifierOf(bucket)}, '${prefix}')` }
  }
  const [, disk = DISK, path] = /^(?:disk:\/\/(\w+)\/)?([^/].*)$/.exec(text) ?? []
  if (path === undefined || !/^[\w./+=@-]{1,200}$/.test(path) || path.includes('..')) return null
  return { text, sql: `Disk('${disk}', '${path}')` }
}
