import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { type BucketPath, parseBucketPath } from '../bucket.ts'
import type { Store } from '../store.ts'
import type { DaySpan, ExportQuery } from './export-query.ts'
import { createLocalPlace } from './local-place.ts'
import { createS3Place } from './s3-place.ts'

/** A file that was written. */
export interface WrittenFile {
  readonly rows: number
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
}

/** A folder, or a prefix of a bucket, that has the files of an export. Names are relative to it. */
export interface ExportPlace {
  /** Prepares the folder of a table, and removes what a killed export has left. */
  prepare(table: string): Promise<void>
  /** Returns the content of a small file; null without one. */
  read(name: string): Promise<string | null>
  /** Replaces a small file atomically. */
  replace(name: string, text: string): Promise<void>
  /** Returns the bytes of a file; null without one. */
  sizeOf(name: string): Promise<number | null>
  /** Writes the rows of a day as Parquet. The file appears whole, or not at all. */
  write(name: string, query: ExportQuery, day: DaySpan): Promise<WrittenFile>
}

/** The place that `--to-dir` names. */
export type ExportTarget =
  | { readonly kind: 'folder'; readonly path: string }
  | ({ readonly kind: 's3' } & BucketPath)

/**
 * Parses `DIR` or `s3://BUCKET/PREFIX`. Returns null for a bucket or prefix with other characters
 * than letters, digits and `._=-`, for `..`, and for other schemes.
 */
export function parseTarget(text: string): ExportTarget | null {
  const found = parseBucketPath(text)
  if (found !== null) return { kind: 's3', ...found }
  if (text === '' || /^[a-z0-9]+:\/\//i.test(text) || text.includes('\0')) return null
  return { kind: 'folder', path: resolve(text) }
}

/** Names a place for its lock: two exports into it have the same text. */
export function placeId(target: ExportTarget): string {
  return target.kind === 's3'
    ? `s3://${target.bucket}/${target.prefix}`
    : `${hostname()}:${target.path}`
}

/** Opens a place; `tag` is the `log_comment` of the statements that write. */
export function openPlace(store: Store, target: ExportTarget, tag: string): ExportPlace {
  return target.kind === 's3'
    ? createS3Place(store, target, tag)
    : createLocalPlace(store, target.path)
}
