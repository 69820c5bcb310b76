import { createHash, randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/service-error.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../store.ts'

/** The right to write into one place. */
export interface ExportLock {
  /** `log_comment` of statements that write there: the next export ends those that still run. */
  readonly tag: string
  /** Rejects with `unavailable` once the lock is lost, because its server was restarted. */
  check(): void
  release(): Promise<void>
}

/** Places that exports of this process write into. */
const held = new Set<string>()

/** How long a lock outlives a process that was killed: the server notices it within a second. */
const WAIT_MS = 5000
const POLL_MS = 100

/**
 * Locks a place. On a server the lock is a query that sleeps, whose id follows from the place:
 * ClickHouse refuses a second query with the id of a running one, and ends the query when its
 * client is gone. The embedded engine belongs to one process, so the process has the lock.
 *
 * Rejects with `unavailable` while another export writes there.
 */
export async function lockPlace(
  store: Store,
  place: string,
  stop: AbortSignal,
): Promise<ExportLock> {
  const tag = `export-${createHash('sha256').update(place).digest('hex').slice(0, 32)}`
  if (held.has(tag)) throw isHeld()
  held.add(tag)
  try {
    const lock = store.download === undefined ? null : await lockOnServer(store, tag, stop)
    return {
      tag,
      check: () => lock?.check(),
      async release() {
        await lock?.release().catch(() => {}) // it ends with the connection
        held.delete(tag)
      },
    }
  } catch (error) {
    held.delete(tag)
    throw error
  }
}

async function lockOnServer(store: Store, tag: string, stop: AbortSignal) {
  const until = performance.now() + WAIT_MS
  let state: 'asked' | 'ended' = 'ended'
  let token = ''
  for (; performance.now() < until; await pause(POLL_MS, stop)) {
    if (state === 'ended') {
      state = 'asked'
      token = randomUUID()
      // It ends with an error: refused because of its id, or killed.
      const end = () => {
        state = 'ended'
      }
      store.download?.(lockQuery(token), {}, tag).then(end, end)
    }
    const [row] = await store.query<{ tokens: string[] }>(
      `SELECT groupArray(Settings['log_comment']) AS tokens FROM system.processes
       WHERE user = currentUser() AND query_id = {tag:String}`,
      { tag },
      ['tokens'],
    )
    if (row?.tokens.includes(token)) {
      await endWrites(store, tag)
      return {
        check() {
          if (state === 'ended')
            throw new ServiceError(
              'unavailable',
              'the server of the export was restarted, or its lock was killed: run the same command again',
            )
        },
        release: () =>
          store.command('KILL QUERY WHERE user = currentUser() AND query_id = {tag:String} SYNC', {
            tag,
          }),
      }
    }
  }
  throw isHeld()
}

function lockQuery(token: string): string {
  return `SELECT sleepEachRow(0.2) FROM numbers(1000000000)
    SETTINGS max_block_size = 1, max_threads = 1, max_execution_time = 0, log_comment = '${token}'
    FORMAT Null`
}

/** Ends what a killed export still writes. */
function endWrites(store: Store, tag: string): Promise<void> {
  return store.command(
    "KILL QUERY WHERE user = currentUser() AND Settings['log_comment'] = {tag:String} SYNC",
    { tag },
  )
}

function isHeld(): ServiceError {
  return new ServiceError(
    'unavailable',
    'another export writes into this place: wait for its end, or name another place',
  )
}
