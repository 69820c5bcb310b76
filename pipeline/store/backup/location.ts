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
 * Parses a location: `PATH` on the server's disk `backups`, or `disk://DISK/PATH` on another one. A
 * disk is a folder or S3; its credentials are in the server's configuration alone. Returns null for
 * any other text.
 */
export function parseLocation(text: string): BackupLocation | null {
  const [, disk = DISK, path] = /^(?:disk:\/\/(\w+)\/)?([^/].*)$/.exec(text) ?? []
  if (path === undefined || !/^[\w./+=@-]{1,200}$/.test(path) || path.includes('..')) return null
  return { text, sql: `Disk('${disk}', '${path}')` }
}
