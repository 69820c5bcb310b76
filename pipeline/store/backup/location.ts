/** A place where the ClickHouse server keeps a backup. */
export interface BackupLocation {
  /** As the operator wrote it. */
  readonly text: string
  /** As `BACKUP` and `RESTORE` name it. */
  readonly sql: string
}

/**
 * Parses a location: `NAME` or `/PATH` on the server's file system, below `backups.allowed_path`,
 * or `disk://DISK/PATH` on one of the server's disks, which may be S3. The credentials of a disk
 * are in the server's configuration. Returns null for any other text.
 */
export function parseLocation(text: string): BackupLocation | null {
  const [, disk, path] = /^(?:disk:\/\/(\w+)\/)?(.+)$/.exec(text) ?? []
  if (path === undefined || !/^[\w./+=@-]{1,200}$/.test(path) || path.includes('..')) return null
  return { text, sql: disk === undefined ? `File('${path}')` : `Disk('${disk}', '${path}')` }
}
