import { createHash } from 'node:crypto'
import { ServiceError } from '../../domain/service-error.ts'
import { analystDatabase } from '../migrate.ts'
import type { Store } from '../store.ts'
import { EXPORT_TABLES, type ExportTable } from './export-tables.ts'

/** A column of a file. */
export interface ExportColumn {
  readonly name: string
  /** ClickHouse's type of what the file has: enums as `String`, 128-bit integers as `Decimal`. */
  readonly type: string
}

/** The rows of a day: the seconds at which it begins and ends. */
export interface DaySpan {
  readonly from: number
  readonly to: number
}

/** How the days of one table are read. */
export interface ExportQuery extends ExportTable {
  readonly columns: readonly ExportColumn[]
  /** Changes with names and types of the columns: 16 hexadecimal digits. */
  readonly schema: string
  /** The SELECT of a day in the order of its key, with `{from:UInt32}` and `{to:UInt32}`. */
  readonly select: string
}

/** Seconds that one statement may take: a day of a view that reads everything. */
const SECONDS = 3600

/**
 * Settings of every statement. Fixed sizes of blocks and row groups make the bytes of a file follow
 * from its rows, wherever ClickHouse writes them. A large sort spills to disk.
 */
const SETTINGS: readonly string[] = [
  `max_execution_time = ${SECONDS}`,
  'max_threads = 2',
  'max_block_size = 16384',
  'min_insert_block_size_rows = 0',
  'min_insert_block_size_bytes = 0',
  'max_memory_usage = 3000000000',
  'max_bytes_before_external_sort = 200000000',
  'max_bytes_before_external_group_by = 400000000',
  "output_format_parquet_compression_method = 'zstd'",
  'output_format_parquet_row_group_size = 100000',
  'output_format_parquet_datetime_as_uint32 = 0',
]

/** The clause of settings for a statement of an export, with `more`. */
export function exportSettings(...more: readonly string[]): string {
  return `SETTINGS ${[...SETTINGS, ...more].join(', ')}`
}

/** Describes a table. Rejects with `internal` if its view is not there. */
export async function describeExport(store: Store, name: string): Promise<ExportQuery> {
  const table = EXPORT_TABLES[name]
  if (table === undefined) throw new ServiceError('invalid_argument', `no such table: ${name}`)
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const source = `${analystDatabase(own?.name ?? '')}.${table.source}`
  const found = await store.query<ExportColumn>(
    `DESCRIBE (SELECT * FROM ${source})`,
    { from: 0, to: 1 },
    ['name', 'type'],
  )
  const columns = found.map(({ name, type }) => ({ name, type: typeInFile(type) }))
  const list = columns.map(({ name, type }, at) => selected(name, type, found[at]?.type))
  return {
    ...table,
    source,
    columns,
    schema: createHash('sha256').update(JSON.stringify(columns)).digest('hex').slice(0, 16),
    select: `SELECT ${list.join(', ')} FROM ${source} AS x WHERE ${table.condition} ORDER BY ${table.order}`,
  }
}

/**
 * What a file has of a type of ClickHouse. Readers of Parquet know no enums, and no integers of 128
 * bits; a decimal has 38 digits.
 */
function typeInFile(type: string): string {
  const [, wrapper, inner] = /^(LowCardinality|Nullable)\((.*)\)$/s.exec(type) ?? []
  if (inner !== undefined)
    return wrapper === 'Nullable' ? `Nullable(${typeInFile(inner)})` : typeInFile(inner)
  if (type.startsWith('Enum')) return 'String'
  if (/^U?Int(128|256)$/.test(type)) return 'Decimal(38, 0)'
  return type.replace(/\s+/g, ' ')
}

/** A column as a file has it. A number of more than 38 digits is an error (code 69). */
function selected(name: string, type: string, stored: string | undefined): string {
  if (type === stored) return `x.${name} AS ${name}`
  if (type.includes('Decimal')) return `toDecimal128(toString(x.${name}), 0) AS ${name}`
  return `CAST(x.${name}, '${type}') AS ${name}`
}

/**
 * Returns a digest of the rows of a day: their number and a sum of their hashes, which does not
 * depend on their order. It is equal as long as the rows are.
 */
export async function digestDay(store: Store, query: ExportQuery, day: DaySpan): Promise<string> {
  const names = query.columns.map(({ name }) => `x.${name}`)
  const [row] = await store.query<{ rows: string; hash: string }>(
    `SELECT count() AS rows, toString(sum(reinterpretAsUInt128(sipHash128(tuple(${names.join(', ')}))))) AS hash
     FROM ${query.source} AS x WHERE ${query.condition} ${exportSettings()}`,
    { ...day },
    ['rows', 'hash'],
  )
  return `${row?.rows}-${BigInt(row?.hash ?? 0).toString(16)}`
}
