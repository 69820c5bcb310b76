import { z } from 'zod'
import { ServiceError } from '../../domain/service-error.ts'
import { parseJson } from '../../runtime/parse-json.ts'

const exportedDay = z.object({
  /** UTC day, `2026-11-24`. */
  day: z.string(),
  /** Name of the file, beside the manifest. */
  file: z.string(),
  rows: z.number(),
  bytes: z.number(),
  /** SHA-256 of the file, hex. */
  sha256: z.string(),
  /** `schema_version` of the columns that the file has. */
  schema_version: z.string(),
  /** Of the rows from which the file was written. */
  digest: z.string(),
})
const manifest = z.object({
  format: z.literal(1),
  table: z.string(),
  /** Changes with `columns`. */
  schema_version: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })).readonly(),
  /** The last day before which no day is missing since the first one. */
  complete_through: z.string(),
  /** In the order of their days. */
  files: z.array(exportedDay),
})

/** What the folder of a table has (rule M4). It names each file that is complete. */
export type ExportManifest = z.infer<typeof manifest>
/** A file of a manifest. */
export type ExportedDay = z.infer<typeof exportedDay>

export const MANIFEST_FILE = 'manifest.json'

const DAY_MS = 86_400_000

/**
 * Reads a manifest; null without one. Rejects with `newer_format` for a text that this version did
 * not write.
 */
export function parseManifest(text: string | null, where: string): ExportManifest | null {
  if (text === null) return null
  const parsed = manifest.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new ServiceError(
    'newer_format',
    `${where}/${MANIFEST_FILE} is not a manifest of this version: export into another place`,
  )
}

/** Returns a manifest with one more file, which replaces that of its day. */
export function withDay(
  files: readonly ExportedDay[],
  added: ExportedDay,
  head: Pick<ExportManifest, 'table' | 'schema_version' | 'columns'>,
): ExportManifest {
  const all = [...files.filter(({ day }) => day !== added.day), added]
  all.sort((a, b) => (a.day < b.day ? -1 : 1))
  const gap = all.findIndex(
    ({ day }, at) => Date.parse(all[at + 1]?.day ?? '') - Date.parse(day) !== DAY_MS,
  )
  const complete_through = all[gap]?.day ?? added.day
  return { format: 1, ...head, complete_through, files: all }
}
