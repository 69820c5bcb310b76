import { createHash } from 'node:crypto'
import { ServiceError } from '../../domain/service-error.ts'
import { type BucketPath, identifierOf } from '../bucket.ts'
import type { Store } from '../store.ts'
import type { ExportPlace } from './export-place.ts'
import { exportSettings } from './export-query.ts'

/**
 * A prefix of a bucket, into which the server writes itself. Address and keys of the bucket are in
 * the server's configuration, as the named collection `export_` and the name of the bucket, with
 * `_` for `-` and `.` (infra/clickhouse/exports). An object appears whole, when all of it is there.
 * Its bytes are read back through the server for their SHA-256.
 */
export function createS3Place(
  store: Store,
  { bucket, prefix }: BucketPath,
  tag: string,
): ExportPlace {
  const { download } = store
  if (download === undefined)
    throw new ServiceError(
      'bad_config',
      '--to-dir: the embedded store writes into folders only: name one, or set CLICKHOUSE_URL',
    )
  const collection = `export_${identifierOf(bucket)}`
  const object = (name: string, format: string) =>
    `s3(${collection}, filename = '${prefix === '' ? '' : `${prefix}/`}${name}', ${format})`
  const text = "format = 'RawBLOB', structure = 'text String'"
  const writes = [
    's3_truncate_on_insert = 1',
    // Adaptive timeouts send a slow request again after 3 s. The first one may still arrive, after
    // newer ones, and so put back an older manifest.
    's3_use_adaptive_timeouts = 0',
    `log_comment = '${tag}'`,
  ]
  const guarded = <T>(work: () => Promise<T>) =>
    work().catch((error: unknown) => fail(bucket, collection, error))

  return {
    prepare: async () => {}, // an object that is not complete does not exist
    read: (name) =>
      guarded(async () => {
        const [row] = await store.query<{ text: string }>(
          `SELECT text FROM ${object(name, text)} SETTINGS s3_ignore_file_doesnt_exist = 1`,
        )
        return row?.text ?? null
      }),
    replace: (name, content) =>
      guarded(() =>
        store.insert(`FUNCTION ${object(name, text)} SETTINGS ${writes.join(', ')}`, [
          { text: content },
        ]),
      ),
    sizeOf: (name) =>
      guarded(async () => {
        const [row] = await store.query<{ size: string }>(
          `SELECT _size AS size FROM ${object(name, "format = 'One'")} SETTINGS s3_ignore_file_doesnt_exist = 1`,
        )
        return row === undefined ? null : Number(row.size)
      }),
    write: (name, query, day) =>
      guarded(async () => {
        const file = object(name, "format = 'Parquet'")
        await store.command(
          `INSERT INTO FUNCTION ${file} ${query.select} ${exportSettings(...writes)}`,
          { ...day },
        )
        const [row] = await store.query<{ rows: string }>(`SELECT count() AS rows FROM ${file}`)
        const hash = createHash('sha256')
        let bytes = 0
        // Each byte is a row, so that the server needs no memory for the whole object. One
        // thread keeps the blocks in their order.
        const { body } = await download(
          `SELECT byte FROM ${object(name, "format = 'RowBinary', structure = 'byte UInt8'")} ${exportSettings(...IN_ORDER)} FORMAT RowBinary`,
        )
        for await (const piece of body) {
          hash.update(piece)
          bytes += piece.length
        }
        return { rows: Number(row?.rows), bytes, sha256: hash.digest('hex') }
      }),
  }
}

/** The later of two settings with one name counts. */
const IN_ORDER = ['max_threads = 1']

/** Explains ClickHouse's refusal. Source of the codes: ErrorCodes.cpp. */
function fail(bucket: string, collection: string, error: unknown): never {
  const code = error instanceof ServiceError ? error.context.code : null
  if (code === ACCESS_DENIED || code === NO_COLLECTION)
    throw new ServiceError(
      'bad_config',
      `--to-dir: ClickHouse has no bucket ${bucket}: add the named collection ${collection} and its grants, which name the address of the bucket, to the server (infra/clickhouse/exports, docs/operating.md)`,
      { cause: error },
    )
  if (code === S3_ERROR)
    throw new ServiceError(
      'unavailable',
      `--to-dir: the bucket ${bucket} refuses ClickHouse: see that it exists, and that the keys of the named collection ${collection} may read and write it`,
      { cause: error },
    )
  throw error
}

const ACCESS_DENIED = 497
const S3_ERROR = 499
const NO_COLLECTION = 669
