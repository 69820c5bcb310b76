import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { onCluster } from '../../pipeline/store/on-cluster.ts'
import { createPatientStore } from '../../pipeline/store/patient-store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { insertProgress, readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { REPLICA_FAULTS } from '../servers/replica-faults.ts'
import { startReplicaPair } from '../servers/replica-pair.ts'
import { loadDataConfig } from '../service/config.ts'

const USAGE = `usage: npm run -s drill -- clickhouse-replicas [options]
Stores rows and reads them while a replica of ClickHouse fails, and compares every server at the end.
Without CLICKHOUSE_CLUSTER: starts two servers here, and a proxy in front of them makes the faults.
With it: works in a database of its own on the servers of CLICKHOUSE_URL, as the owner of the tables.
  --break CMD    shell command that makes a replica fail, for example: ssh ch-1 systemctl stop clickhouse-server
  --mend CMD     shell command that brings it back
  --seconds N    how long a fault lasts (5)
  --port-base N  first port of the servers that are started here (26100)`

/** Rows of a block. Block n has the rows n * ROWS to n * ROWS + ROWS - 1, and position n. */
const ROWS = 200
/** No merge of this table hides a row that was stored twice. */
const ROWS_TABLE = `CREATE TABLE IF NOT EXISTS drill_rows
(n UInt32)
ENGINE = MergeTree
ORDER BY n
SETTINGS non_replicated_deduplication_window = 1000`
/** Within this time everything that was stored has to be on every server. */
const SETTLED_MS = 60_000

/** A fault, and how it ends. */
interface Break {
  readonly title: string
  begin(): void
  end(): void
}

/** The replicas of the drill. */
interface Replicas {
  readonly urls: readonly URL[]
  readonly cluster: string
  /** Each server, past the proxy. */
  readonly direct: readonly URL[]
  readonly breaks: readonly Break[]
  /** Waits until the servers have each other's rows; null: by ClickHouse's own statement. */
  readonly settle: (() => Promise<unknown>) | null
  close(): Promise<void>
}

/** Runs the drill. Returns whether no row was lost or doubled, and reads went on and never back. */
export async function run(args: readonly string[]): Promise<boolean> {
  const defaults = { break: '', mend: '', seconds: 5, 'port-base': 26_100 }
  const options = readOptions(args, USAGE, defaults)?.options
  if (options === undefined) return true
  const database = `drill_${process.pid}`
  const replicas = process.env.CLICKHOUSE_CLUSTER
    ? clusterOfEnvironment(database, options.break, options.mend)
    : await localPair(database, options['port-base'])
  try {
    printHead('fault', 'blocks', 'longest pause of writes, s', 'reads', 'of reads, s', 'went back')
    const load = await startLoad(replicas)
    let areReadsRight = true
    for (const fault of replicas.breaks) {
      await load.run(2)
      load.take()
      fault.begin()
      await load.run(options.seconds)
      fault.end()
      await load.run(4)
      const seen = load.take()
      areReadsRight &&= seen.reads > 0 && seen.wentBack === 0
      printRow(fault.title, seen.blocks, seen.writePause, seen.reads, seen.readPause, seen.wentBack)
    }
    const blocks = await load.stop()
    const isExact = await compare(replicas, blocks)
    return isExact && areReadsRight
  } finally {
    await replicas.close()
  }
}

/** Stores blocks and reads them back, with two stores as two processes have them. */
async function startLoad({ urls: [url, ...otherUrls], cluster }: Replicas) {
  if (url === undefined) throw new Error('CLICKHOUSE_URL: required with CLICKHOUSE_CLUSTER')
  const stopping = new AbortController()
  const open = () => createStore({ kind: 'clickhouse', url, otherUrls, cluster })
  const [owner, reader] = [await open(), await open()]
  const writer = createPatientStore(owner, stopping.signal, createLogger('silent'))
  await migrate(owner)
  await owner.command(onCluster(ROWS_TABLE, cluster, ''))
  let blocks = 0
  const times = { write: performance.now(), read: performance.now() }
  const seen = { blocks: 0, reads: 0, write: 0, read: 0, wentBack: 0 }
  const note = (what: 'write' | 'read') => {
    seen[what] = Math.max(seen[what], performance.now() - times[what])
    times[what] = performance.now()
  }
  async function write(): Promise<void> {
    while (!stopping.signal.aborted) {
      await insertBlock(writer, blocks)
      blocks += 1
      seen.blocks += 1
      note('write')
      await delay(100)
    }
  }
  async function read(): Promise<void> {
    for (let highest = 0; !stopping.signal.aborted; await delay(20)) {
      const found = await readBlocks(reader).catch(() => null)
      if (found === null) continue
      if (found.marker < highest || found.rows < (found.marker + 1) * ROWS) seen.wentBack += 1
      highest = Math.max(highest, found.marker)
      seen.reads += 1
      note('read')
    }
  }
  const running = [write(), read()]
  return {
    /** Goes on for some seconds. Rejects if the load fails. */
    run: (seconds: number) => Promise.race([delay(1000 * seconds), ...running]),
    /** Returns what happened since the last call. */
    take() {
      const { write, read, ...counts } = seen
      Object.assign(seen, { blocks: 0, reads: 0, write: 0, read: 0, wentBack: 0 })
      const seconds = (ms: number) => (ms / 1000).toFixed(1)
      return { ...counts, writePause: seconds(write), readPause: seconds(read) }
    },
    /** Ends after the block under way. Returns the number of blocks that were acknowledged. */
    async stop(): Promise<number> {
      const before = blocks
      while (blocks === before) await delay(10)
      stopping.abort()
      await Promise.allSettled(running)
      await Promise.all([owner.close(), reader.close()])
      return blocks
    },
  }
}

async function insertBlock(store: Store, block: number): Promise<void> {
  const at = block * ROWS
  await store.insert(
    'drill_rows',
    Array.from({ length: ROWS }, (_, n) => ({ n: at + n })),
  )
  const position = { worker: 'fold', partition: 0, partitions: 1, parent: 0, block_time: block }
  await insertProgress(store, [{ ...position, slot: block, complete_slot: block }])
}

/** The newest position, and the rows up to it that the same process then reads. */
async function readBlocks(store: Store) {
  const marker = (await readStorageMarker(store))?.slot ?? -1
  const [row] = await store.query<{ n: string }>(
    'SELECT uniqExact(n) AS n FROM drill_rows WHERE n < {end:UInt32}',
    { end: (marker + 1) * ROWS },
  )
  return { marker, rows: Number(row?.n) }
}

/** Compares each server with what was acknowledged. More may be stored. */
async function compare({ direct, settle, cluster }: Replicas, blocks: number): Promise<boolean> {
  await settle?.()
  let isExact = true
  printHead('server', 'rows acknowledged', 'lost', 'doubled')
  for (const [n, url] of direct.entries()) {
    const store = await createStore({ kind: 'clickhouse', url, cluster: settle ? null : cluster })
    const counts = await countRows(store, blocks)
    for (const until = Date.now() + SETTLED_MS; counts.lost > 0 && Date.now() < until; ) {
      await delay(500)
      Object.assign(counts, await countRows(store, blocks))
    }
    printRow(n + 1, blocks * ROWS, counts.lost, counts.doubled)
    isExact &&= counts.lost === 0 && counts.doubled === 0
    await store.close()
  }
  return isExact
}

async function countRows(store: Store, blocks: number) {
  const [row] = await store.query<{ rows: string; different: string }>(
    'SELECT count() AS rows, uniqExact(n) AS different FROM drill_rows WHERE n < {end:UInt32}',
    { end: blocks * ROWS },
  )
  const [rows, different] = [Number(row?.rows), Number(row?.different)]
  return { lost: blocks * ROWS - different, doubled: rows - different }
}

async function localPair(database: string, portBase: number): Promise<Replicas> {
  const dir = mkdtempSync(join(tmpdir(), 'drill-'))
  chmodSync(dir, 0o711) // the servers' users can enter it
  const pair = await startReplicaPair(dir, portBase, database)
  const { replicas } = pair.proxy
  const [first, second] = replicas
  const lagging: Break = {
    title: 'the other server lags, then the first is gone',
    begin() {
      second.lag(true)
      setTimeout(() => first.fail({ how: 'cut' }), 1000)
    },
    end() {
      second.lag(false)
      setTimeout(() => first.fail(null), 2000)
    },
  }
  return {
    urls: pair.urls,
    cluster: 'drill',
    direct: pair.direct,
    // The load may be on either server by then.
    breaks: [
      ...REPLICA_FAULTS.flatMap(({ title, fault }) =>
        fault === 'lag'
          ? []
          : replicas.map((replica, n) => ({
              title: `${title}: server ${n + 1}`,
              begin: () => replica.fail(fault),
              end: () => replica.fail(null),
            })),
      ),
      lagging,
    ],
    settle: () => Promise.all(replicas.map((replica) => replica.caughtUp())),
    async close() {
      await pair.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function clusterOfEnvironment(database: string, toBreak: string, toMend: string): Replicas {
  const { store } = loadDataConfig(process.env)
  if (store.kind !== 'clickhouse') throw new Error('CLICKHOUSE_URL: required')
  const urls = [store.url, ...(store.otherUrls ?? [])].map((url) => new URL(`/${database}`, url))
  const shell = (command: string) => {
    if (command !== '') execFileSync('sh', ['-c', command], { stdio: 'inherit' })
  }
  print(`database ${database} is left on the cluster; drop it when the drill is done`)
  return {
    urls,
    cluster: store.cluster ?? '',
    direct: urls,
    breaks: [{ title: toBreak || 'none', begin: () => shell(toBreak), end: () => shell(toMend) }],
    settle: null,
    close: async () => {},
  }
}
