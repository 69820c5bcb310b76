import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../domain/service-error.ts'

/** The schema of this version: `sql/` beside `dist/`. */
export const SQL_FOLDER = join(import.meta.dirname, '../../../sql')

/** A file of `sql/`, named `NNNN_name.sql`; its statements end with `;` at the end of a line. */
export interface SchemaFile {
  readonly name: string
  /**
   * Whether versions of the service without this file go on once it is applied (rule K19). The
   * first line says so: `-- compatible: <what it adds>` or `-- incompatible: <what they would do
   * wrong>`. A file without such a line is not compatible.
   */
  readonly compatible: boolean
  /** The rest of that line; empty without one. */
  readonly why: string
  /** Digest of the statements without comment lines, so that comments may be corrected. */
  readonly checksum: string
  readonly statements: readonly string[]
}

/** What a database says of a file that was applied. */
export interface AppliedFile {
  /** Of each version of its statements that was applied. */
  readonly checksums: readonly string[]
  /** `SchemaFile.compatible`, as the version that applied it says. */
  readonly compatible: boolean
}

/** Reads the files of a folder in the order of their numbers. Throws for a name that is invalid. */
export function readSchema(folder: string): SchemaFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const numbers = new Map<string, string>()
  return names.map((name) => {
    const number = /^([0-9]{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
    if (number === undefined)
      throw new ServiceError('schema_changed', `sql/${name}: expected a name like 0001_swaps.sql`)
    const twin = numbers.get(number)
    if (twin !== undefined)
      throw new ServiceError('schema_changed', `sql/${name}: sql/${twin} has the same number`)
    numbers.set(number, name)
    return schemaFile(name, readFileSync(join(folder, name), 'utf8'))
  })
}

function schemaFile(name: string, text: string): SchemaFile {
  const [, mark, why = ''] = /^-- (compatible|incompatible): (.+)\n/.exec(text) ?? []
  const statements = text
    .replace(/^\s*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const sum = createHash('sha256').update(statements.join(';\n')).digest('hex')
  const checksum = `${CHECKSUM_KIND}${sum}`
  return { name, compatible: mark === 'compatible', why, checksum, statements }
}

/** Older checksums lack this prefix. They covered comments too, and are not compared. */
export const CHECKSUM_KIND = 'statements-sha256:'

function differs(checksum: string, file: SchemaFile): boolean {
  return checksum.startsWith(CHECKSUM_KIND) && checksum !== file.checksum
}

/**
 * Returns the files that have not been applied. Throws `schema_changed`, naming the file, if one
 * that was applied has changed, or if this version lacks one that is not compatible (rule K19).
 */
export function pendingFiles(
  files: readonly SchemaFile[],
  applied: ReadonlyMap<string, AppliedFile>,
): SchemaFile[] {
  const names = new Set(files.map((file) => file.name))
  for (const [name, { compatible }] of applied)
    if (!names.has(name) && !compatible)
      throw new ServiceError(
        'schema_changed',
        `sql/${name} was applied to this database but is missing here, and a version without it cannot go on: upgrade this process`,
      )
  for (const file of files)
    if (applied.get(file.name)?.checksums.some((checksum) => differs(checksum, file)))
      throw new ServiceError(
        'schema_changed',
        `sql/${file.name} has changed since it was applied: undo the change and add a new file`,
      )
  return files.filter((file) => !applied.has(file.name))
}
