/**
 * Rewrites a statement of `sql/` for the servers of a cluster, which are all replicas of each other
 * (rule K13): it runs `ON CLUSTER`, engines are replicated, and so are deduplication windows.
 * Throws for a statement that is not known to be idempotent: a server that was down executes it
 * later, and a repeated migration executes it again.
 *
 * `owner`: the user who runs it. A server executes a statement of the cluster as a user of its own,
 * so views name their definer.
 */
export function onCluster(statement: string, cluster: string, owner: string): string {
  const head = HEADS.map((pattern) => pattern.exec(statement)?.[0]).find((found) => found)
  if (head === undefined || NOT_REPEATABLE.test(statement))
    throw new Error(`not a statement for a cluster: ${statement.slice(0, 60)}`)
  const rest = statement
    .slice(head.length)
    .replace(/\bDEFINER = CURRENT_USER\b/, `DEFINER = ${quoted(owner, '`')}`)
    .replace(ENGINE, (_, kind: string, args = '') => {
      const path = quoted(`/clickhouse/tables/${cluster}/{database}/{table}`)
      return `ENGINE = Replicated${kind}(${path}, '{replica}'${args && `, ${args}`})`
    })
    .replace(WINDOW, `replicated_deduplication_window = $1, ${WINDOW_SECONDS}`)
  return `${head} ON CLUSTER ${quoted(cluster)}${rest}`
}

/**
 * Converts `engine_full` of a replicated table (system.tables) to that of an unreplicated one; that
 * of another table stays unchanged.
 */
export function unreplicated(engine: string): string {
  return engine
    .replace(REPLICATED, (_, kind: string, args: string) => kind + (args && `(${args})`))
    .replace(REPLICATED_WINDOW, `non_replicated_deduplication_window = $1`)
}

/** The statements that `sql/` may have, up to the name of what they create or change. */
const HEADS = [
  /^CREATE (?:DATABASE|TABLE|VIEW) IF NOT EXISTS [\w.]+/,
  /^CREATE OR REPLACE VIEW [\w.]+/,
  /^ALTER TABLE [\w.]+/,
]

const NOT_REPEATABLE = /\b(?:ADD|DROP|RENAME) (?:COLUMN|INDEX|PROJECTION) (?!IF (?:NOT )?EXISTS)/

/**
 * The path in Keeper has no `{uuid}`: a table that a repeated migration creates on one server only
 * would get another one, and would not be a replica. Source: "Creating replicated tables" in
 * ClickHouse's reference of ReplicatedMergeTree.
 */
const ENGINE = /^ENGINE = ((?:Replacing)?MergeTree)(?:\(([^)]*)\))?$/m

const WINDOW = /\bnon_replicated_deduplication_window = ([0-9]+)/

/** Replicated tables also forget tokens by age. A week is the retention of the log. */
const WINDOW_SECONDS = 'replicated_deduplication_window_seconds = 604800'

/** The first two arguments are the path in Keeper and the name of the replica. */
const REPLICATED = /^Replicated((?:Replacing)?MergeTree)\('[^']*', '[^']*'(?:, )?([^)]*)\)/
const REPLICATED_WINDOW = new RegExp(
  `\\breplicated_deduplication_window = ([0-9]+), ${WINDOW_SECONDS}`,
)

/** Returns a text as a literal of SQL, or with another quote as a name. */
export function quoted(text: string, quote = "'"): string {
  return `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)}${quote}`
}
