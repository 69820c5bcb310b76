import { ServiceError } from '../domain/service-error.ts'
import { pause } from '../runtime/pause.ts'
import { quoted } from './on-cluster.ts'
import { PARTITION_SLOTS, partitionKey, SLOTS_PER_PARTITION } from './slot-partitions.ts'
import type { Store } from './store.ts'

/** A table of `PARTITION_SLOTS`, as it is stored. */
export interface PartitionState {
  readonly table: string
  /** copying: a repartition began, and did not end; copied: all but the end is done. */
  readonly layout: 'whole' | 'copying' | 'copied' | 'by_slot'
  /** Stored rows, with older versions of a key. Decimal. */
  readonly rows: string
}

export interface RepartitionOptions {
  readonly stop: AbortSignal
  /** Called with the rows of a table that are copied, and with the rows that it has. */
  readonly onRows?: (table: string, done: number, total: number) => void
  /** Rows of one insert. */
  readonly rowsPerInsert?: number
  /** A table that changed within this time is in use by another repartition. */
  readonly lockSeconds?: number
}

/** What was done with a table. */
export interface Repartitioned {
  readonly table: string
  readonly partitions: number
  /** How long inserts into it were refused. */
  readonly heldSeconds: number
}

/** Returns the tables that may be partitioned by slot, and how far each is. */
export async function planRepartition(store: Store): Promise<PartitionState[]> {
  const tables = await readTables(store)
  return Object.keys(PARTITION_SLOTS).flatMap((table): PartitionState[] => {
    const now = tables.get(table)
    if (now === undefined) return []
    const isCopied = tables.has(copyOf(table))
    if (now.partition_key === '')
      return [{ table, layout: isCopied ? 'copying' : 'whole', rows: now.rows }]
    return [{ table, layout: isCopied ? 'copied' : 'by_slot', rows: now.rows }]
  })
}

/**
 * Partitions the tables of an older database by slot (rule K29), one after the other, while the
 * service runs. A table is copied part by part into `<table>_by_slot`, the copy is compared with
 * it, and the two exchange their names. For the last rows and the exchange ClickHouse refuses
 * inserts into the table as while it is overloaded (code 252), so that workers repeat them.
 *
 * After a kill the same call goes on behind the last part that was copied. A kill within the
 * exchange leaves inserts refused until then.
 *
 * Rejects with `bad_config` for replicated tables and for several servers, with `unavailable` while
 * another repartition runs, with `closed` when it is stopped, and with `internal` if a copy
 * differs: it is dropped, and the table stays as it was.
 */
export async function repartition(
  store: Store,
  options: RepartitionOptions,
): Promise<Repartitioned[]> {
  const tables = await readTables(store)
  const old = Object.keys(PARTITION_SLOTS).filter(
    (name) => tables.get(name)?.partition_key === '' || tables.has(copyOf(name)),
  )
  const done: Repartitioned[] = []
  for (const table of old) {
    checkTable(store, tables.get(copyOf(table)) ?? tables.get(table), options)
    done.push(await repartitionTable(store, table, options))
  }
  return done
}

interface TableRow {
  readonly name: string
  readonly engine: string
  readonly engine_full: string
  readonly definition: string
  readonly partition_key: string
  readonly comment: string
  readonly rows: string
  /** Seconds since its definition changed. */
  readonly age: string
}

function copyOf(table: string): string {
  return `${table}_by_slot`
}

async function readTables(store: Store): Promise<Map<string, TableRow>> {
  const names = Object.keys(PARTITION_SLOTS)
  const rows = await store.query<TableRow>(
    `SELECT name, engine, engine_full, create_table_query AS definition, partition_key, comment,
       toString(ifNull(total_rows, 0)) AS rows,
       toString(dateDiff('second', metadata_modification_time, now())) AS age
     FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}`,
    { names: [...names, ...names.map(copyOf)] },
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** Seconds: longer than one statement may take. */
const LOCK_SECONDS = 60

function checkTable(store: Store, found: TableRow | undefined, options: RepartitionOptions): void {
  if (found === undefined) return
  if (store.replicas !== undefined || found.engine !== 'ReplacingMergeTree')
    throw new ServiceError(
      'bad_config',
      'replicated tables and tables of several servers cannot be partitioned anew: they work as they are (docs/operating.md)',
    )
  if (found.name.endsWith('_by_slot') && Number(found.age) < (options.lockSeconds ?? LOCK_SECONDS))
    throw new ServiceError(
      'unavailable',
      `another repartition runs, or one was killed in the last minute (table ${found.name})`,
      { retriable: true },
    )
}

/** A part of a table that is not partitioned: its rows, and the number of its newest insert. */
interface Part {
  readonly name: string
  readonly last: string
  readonly rows: string
}

/** A table that is moved. */
interface Move {
  readonly store: Store
  readonly table: string
  readonly copy: string
  readonly slot: string
  readonly options: RepartitionOptions
  /** Whether the highest version of a key counts; otherwise the row that was inserted last. */
  readonly hasVersions: boolean
  /** Condition, after others, for rows that do not expire soon. */
  readonly kept: string
  /** Partitions of the copy that have changed since they were compared. */
  readonly changed: Set<number>
}

/**
 * Bound of one insert, and of the rows that are copied while inserts are refused. Transactions have
 * some kilobytes each, and a statement may take 30 s.
 */
const ROWS_PER_INSERT = 50_000
/** Rows of one comparison, about. */
const ROWS_PER_COMPARISON = 2_000_000
/** Milliseconds: twice as long as an insert may take. */
const INSERTS_MS = 60_000
const POLL_MS = 50

async function repartitionTable(
  store: Store,
  table: string,
  options: RepartitionOptions,
): Promise<Repartitioned> {
  const slot = PARTITION_SLOTS[table] ?? ''
  const [now] = await readPair(store, table)
  // Rows that expire are deleted from the table and from its copy at another time.
  const [, until, where] = / TTL (.+) WHERE (.+?) SETTINGS /.exec(now.engine_full) ?? []
  const move: Move = {
    store,
    table,
    slot,
    options,
    copy: copyOf(table),
    hasVersions: now.engine_full.startsWith('ReplacingMergeTree('),
    kept: until === undefined ? '' : `AND NOT (${until} <= now() + INTERVAL 1 HOUR AND ${where})`,
    changed: new Set(),
  }
  const heldSeconds = now.partition_key === '' ? await moveTable(move) : 0
  await dropOld(move)
  return { table, partitions: (await readPartitions(move, table)).length, heldSeconds }
}

/** Returns the table, and the one beside it: its copy, or what it was before the exchange. */
async function readPair(store: Store, table: string): Promise<[TableRow, TableRow | undefined]> {
  const tables = await readTables(store)
  const now = tables.get(table)
  if (now === undefined) throw new ServiceError('internal', `there is no table ${table}`)
  return [now, tables.get(copyOf(table))]
}

/** Copies the table and exchanges it with the copy. Returns for how many seconds it was held. */
async function moveTable(move: Move): Promise<number> {
  const { store, table, copy, options, changed } = move
  const [now] = await readPair(store, table)
  if (now.engine_full.includes(HOLD)) await release(move) // a run that was killed has left it
  let copied = await openCopy(move)
  const most = options.rowsPerInsert ?? ROWS_PER_INSERT
  for (;;) {
    let left = await partsBeyond(move, table, copied)
    for (; sumRows(left) > most; left = await partsBeyond(move, table, copied)) {
      options.onRows?.(table, Math.max(0, Number(now.rows) - sumRows(left)), Number(now.rows))
      copied = await copyNext(move, left, copied, table, copy)
    }
    for (const partition of changed) {
      await mark(move, copy, copied)
      if (await isEqual(move, partition)) changed.delete(partition)
    }
    try {
      const heldAt = await hold(move)
      left = await partsBeyond(move, table, copied)
      // A merge may have put new rows into a large part. That one is copied without the hold.
      if (sumRows(left) <= most) {
        for (; left.length > 0; left = await partsBeyond(move, table, copied))
          copied = await copyNext(move, left, copied, table, copy)
        await requireEqual(move)
        await store.command(`EXCHANGE TABLES ${table} AND ${copy}`)
        return (performance.now() - heldAt) / 1000
      }
    } catch (error) {
      await release(move).catch(() => {}) // the next run does it
      throw error
    }
    await release(move)
  }
}

/** Drops the old table once the new one has all of it. */
async function dropOld(move: Move): Promise<void> {
  const [now, old] = await readPair(move.store, move.table)
  if (old === undefined) return
  let copied = copiedTo(now)
  if (copied !== null) {
    // There are none, unless the exchange was carried out after its caller had given it up.
    let left = await partsBeyond(move, move.copy, copied)
    for (; left.length > 0; left = await partsBeyond(move, move.copy, copied))
      copied = await copyNext(move, left, copied, move.copy, move.table)
    await comment(move, move.table, old.comment)
  }
  await dropCopy(move)
}

/** Creates the copy unless one has the same form. Returns up to which insert it is filled. */
async function openCopy(move: Move): Promise<string> {
  const { store, copy: name, slot, changed } = move
  const [now, copy] = await readPair(store, move.table)
  const by = ` PARTITION BY ${partitionKey(slot)} ORDER BY `
  const form = `${columnsOf(now)} ENGINE = ${now.engine_full.replace(' ORDER BY ', () => by)}`
  if (copy !== undefined && form === `${columnsOf(copy)} ENGINE = ${copy.engine_full}`) {
    for (const { id } of await readPartitions(move, name)) changed.add(Number(id))
    return copiedTo(copy) ?? '0'
  }
  await dropCopy(move)
  await store.command(`CREATE TABLE ${name} ${form}`)
  return '0'
}

/** The definition of columns, indexes and projections. */
function columnsOf({ definition, engine_full }: TableRow): string {
  return definition.slice(
    definition.indexOf('('),
    definition.lastIndexOf(` ENGINE = ${engine_full}`),
  )
}

/** Stores in a copy that it has every insert up to this number. */
function mark(move: Move, copy: string, copied: string): Promise<void> {
  return comment(move, copy, `copied to insert ${copied}`)
}

function copiedTo({ comment }: TableRow): string | null {
  return /^copied to insert ([0-9]+)$/.exec(comment)?.[1] ?? null
}

function comment({ store }: Move, table: string, text: string): Promise<void> {
  return store.command(`ALTER TABLE ${table} MODIFY COMMENT ${quoted(text)}`)
}

function dropCopy({ store, copy }: Move): Promise<void> {
  // ClickHouse refuses to drop a table of more than 50 GB otherwise.
  return store.command(`DROP TABLE IF EXISTS ${copy} SETTINGS max_table_size_to_drop = 0`)
}

/**
 * Returns the first parts that have inserts beyond `copied`, in the order of inserts. ClickHouse
 * numbers the inserts of a table without partitions one after the other, and only joins parts that
 * lie side by side. So a part whose newest insert is not beyond `copied` has no row beyond it.
 */
function partsBeyond({ store }: Move, table: string, copied: string): Promise<Part[]> {
  return store.query<Part>(
    `SELECT name, toString(max_block_number) AS last, toString(rows) AS rows FROM system.parts
     WHERE database = currentDatabase() AND table = {table:String} AND active
       AND max_block_number > {copied:Int64}
     ORDER BY min_block_number LIMIT 1000`,
    { table, copied },
    ['name', 'last', 'rows'],
  )
}

function sumRows(parts: readonly Part[]): number {
  return parts.reduce((sum, { rows }) => sum + Number(rows), 0)
}

/**
 * Copies the first of these parts, and those after it that fit into one insert. Returns up to which
 * insert the copy is filled then: as before, if one of the parts was merged meanwhile.
 *
 * Of a table without versions the row that was inserted last counts. So parts are copied in their
 * order, and of a key that several of them have only the newest row.
 */
async function copyNext(
  move: Move,
  left: readonly Part[],
  copied: string,
  from: string,
  to: string,
): Promise<string> {
  const { store, slot, options, changed } = move
  if (options.stop.aborted)
    throw new ServiceError('closed', 'stopped: the same command goes on', { retriable: true })
  const most = options.rowsPerInsert ?? ROWS_PER_INSERT
  const fitting = left.findIndex((_, at) => sumRows(left.slice(0, at + 1)) > most)
  const parts = left.slice(0, fitting === -1 ? left.length : Math.max(1, fitting))
  const names = parts.map(({ name }) => name)
  const final = move.hasVersions ? '' : 'FINAL'
  const isOne = parts.length === 1
  const steps = isOne ? Math.ceil(Number(parts[0]?.rows) / most) : 1
  for (let step = 0; step < steps; step++) {
    const within = `AND _part_offset >= ${step * most} AND _part_offset < ${(step + 1) * most}`
    // With a projection `_part_offset` would be a place in the projection.
    await store.command(
      `INSERT INTO ${to} SELECT * FROM ${from} ${final}
       WHERE _part IN {names:Array(String)} ${isOne ? within : ''} SETTINGS max_threads = 1, optimize_use_projections = 0`,
      { names },
    )
    await mark(move, to, copied) // it shows another process that this one runs
  }
  const touched = await store.query<{ id: string }>(
    `SELECT DISTINCT ${partitionKey(slot)} AS id FROM ${from} WHERE _part IN {names:Array(String)}`,
    { names },
  )
  for (const { id } of touched) changed.add(Number(id))
  const [still] = await store.query<{ parts: string }>(
    `SELECT count() AS parts FROM system.parts
     WHERE database = currentDatabase() AND table = {from:String} AND active AND name IN {names:Array(String)}`,
    { from, names },
    ['parts'],
  )
  const last = parts.at(-1)?.last ?? copied
  if (Number(still?.parts) < parts.length) return copied
  await mark(move, to, last)
  return last
}

/** The setting with which ClickHouse refuses every insert into a table, with a retriable code. */
const HOLD = 'max_parts_in_total = 0'

/** Refuses inserts, and waits for those under way. Returns `performance.now()` of the refusal. */
async function hold({ store, table, options }: Move): Promise<number> {
  const startedAt = performance.now()
  await store.command(`ALTER TABLE ${table} MODIFY SETTING ${HOLD}`)
  const heldAt = performance.now()
  for (;;) {
    const seconds = (performance.now() - heldAt) / 1000
    const [row] = await store.query<{ inserts: string }>(
      `SELECT count() AS inserts FROM system.processes WHERE query_kind = 'Insert' AND elapsed >= {seconds:Float64}`,
      { seconds },
      ['inserts'],
    )
    if (row?.inserts === '0') return startedAt
    if (seconds * 1000 > INSERTS_MS)
      throw new ServiceError('unavailable', 'an insert of the database does not end', {
        retriable: true,
      })
    await pause(POLL_MS, options.stop)
  }
}

function release({ store, table }: Move): Promise<void> {
  return store.command(`ALTER TABLE ${table} RESET SETTING max_parts_in_total`)
}

/** Compares what has changed since the last comparison. Drops a copy that differs, and rejects. */
async function requireEqual(move: Move): Promise<void> {
  for (const partition of move.changed) {
    if (await isEqual(move, partition)) continue
    await dropCopy(move)
    throw new ServiceError(
      'internal',
      `the copy of ${move.table} differed in partition ${partition}: it was dropped, and the table is as it was`,
    )
  }
}

/** Whether table and copy have the same newest rows in a partition. */
async function isEqual(move: Move, partition: number): Promise<boolean> {
  const { store, table, copy, slot, kept } = move
  const rows = (await readPartitions(move, copy)).find(({ id }) => id === String(partition))?.rows
  const steps = Math.ceil((Number(rows ?? 0) + 1) / ROWS_PER_COMPARISON)
  for (let step = 0; step < steps; step++) {
    const at = (part: number) => Math.floor(SLOTS_PER_PARTITION * (partition + part / steps))
    // Of equal versions of a key either may count. They differ in when they were inserted.
    const figures = ['count()', 'groupBitXor(cityHash64(tuple(* EXCEPT (bytes, inserted_at))))']
    const of = (name: string) =>
      `SELECT (${figures.join(', ')}) FROM ${name} FINAL WHERE ${slot} >= ${at(step)} AND ${slot} < ${at(step + 1)} ${kept}`
    const [row] = await store.query<{ equal: number }>(
      `SELECT (${of(table)}) = (${of(copy)}) AS equal`,
      {},
      ['equal'],
    )
    if (row?.equal !== 1) return false
  }
  return true
}

function readPartitions({ store }: Move, table: string) {
  return store.query<{ id: string; rows: string }>(
    `SELECT partition AS id, toString(sum(rows)) AS rows FROM system.parts
     WHERE database = currentDatabase() AND table = {table:String} AND active GROUP BY id`,
    { table },
  )
}
