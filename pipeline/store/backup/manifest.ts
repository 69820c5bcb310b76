import { z } from 'zod'
import { ServiceError } from '../../domain/service-error.ts'
import { parseJson } from '../../runtime/parse-json.ts'
import type { Store } from '../store.ts'

/** The database that every backup contains, whatever the name of the original. */
export const BACKUP_DATABASE = 'tracked_wallets'

const tableManifest = z.object({
  name: z.string(),
  /** Stored rows, including older versions of a key. Decimal. */
  rows: z.string(),
  /** XOR of ClickHouse's hashes of the uncompressed files of each part, hex. */
  checksum: z.string(),
})
const manifest = z.object({
  format: z.literal(1),
  /** Unix seconds (wall clock) before the first table was copied. */
  created_at: z.number(),
  service_version: z.string(),
  decoder_version: z.number(),
  /** Files of `sql/` that were applied. */
  schema: z.array(
    z.object({
      name: z.string(),
      checksum: z.string(),
      /** Whether older versions go on with it (rule K19). Older backups do not say. */
      compatible: z.boolean().default(false),
    }),
  ),
  /** Newest slot that is stored completely; null before the first. */
  storage_slot: z.number().nullable(),
  /** Where the backup is that this one adds to; null for a full backup. */
  base: z.string().nullable(),
  tables: z.array(tableManifest),
})

/** What a backup contains, and what made it. */
export type Manifest = z.infer<typeof manifest>
/** Rows and checksum of a table. */
export type TableManifest = z.infer<typeof tableManifest>

/** Stores the manifest in `table`, which it creates. */
export async function insertManifest(store: Store, table: string, content: Manifest) {
  await store.command(`CREATE TABLE ${table} (manifest String) ENGINE = MergeTree ORDER BY tuple()`)
  await store.insert(table, [{ manifest: JSON.stringify(content) }])
}

/** Reads the manifest from `table`. Rejects with `schema_changed` if its format is unknown. */
export async function readManifest(store: Store, table: string): Promise<Manifest> {
  const [row] = await store.query<{ manifest: string }>(`SELECT manifest FROM ${table} LIMIT 1`)
  const parsed = manifest.safeParse(parseJson(row?.manifest ?? ''))
  if (parsed.success) return parsed.data
  throw new ServiceError('schema_changed', 'a newer version of the service made this backup')
}

/**
 * Returns rows and checksum of each table of a database. Merges must be stopped: they change both.
 */
export async function measureTables(store: Store, database: string): Promise<TableManifest[]> {
  return store.query<TableManifest>(
    `SELECT name, toString(sum(p.rows)) AS rows,
       hex(groupBitXor(reinterpretAsUInt128(unhex(p.hash_of_uncompressed_files)))) AS checksum
     FROM (SELECT name FROM system.tables WHERE database = {database:String} AND engine LIKE '%MergeTree') AS t
     LEFT JOIN (SELECT table, rows, hash_of_uncompressed_files FROM system.parts
                WHERE database = {database:String} AND active) AS p ON p.table = t.name
     WHERE name NOT IN ('backup_manifest', 'unfinished_restore')
     GROUP BY name ORDER BY name`,
    { database },
  )
}
