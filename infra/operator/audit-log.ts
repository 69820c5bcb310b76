import { randomUUID } from 'node:crypto'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import type { Caller } from './caller.ts'

/** An operator's command, as the audit log records it. */
export interface OperatorAction {
  readonly caller: Caller
  readonly command: string
  readonly arguments: readonly string[]
  readonly reason: string
}

/** A row of the audit log, as `actions` prints it. Times are unix seconds. */
export interface RecordedAction {
  readonly at: number
  readonly user: string
  readonly uid: number | null
  readonly command: string
  readonly arguments: readonly string[]
  readonly reason: string
  /** `done`, an error code, or `started`, which means that the end is unknown. */
  readonly result: string
  /** Null while `result` is `started`. */
  readonly ended_at: number | null
}

/**
 * Runs an action between its two rows of the audit log. Rejects without running it when the first
 * row cannot be stored. The second row is tried three times; the action's result or error is
 * returned even if that fails.
 */
export async function withAudit<T>(
  store: Store,
  action: OperatorAction,
  run: () => Promise<T>,
): Promise<T> {
  const row = { id: randomUUID(), ...(await rowOf(store, action)) }
  const write = (result: string) =>
    store.insert('operator_actions', [{ ...row, at: dateTime(Date.now()), result }])
  const writeResult = async (result: string) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        return await write(result)
      } catch {
        // A failure to store the second row must not hide the result of the action.
      }
    }
  }
  await write('started')
  try {
    const outcome = await run()
    await writeResult('done')
    return outcome
  } catch (error) {
    await writeResult(error instanceof ServiceError ? error.code : 'internal')
    throw error
  }
}

/** Reads the newest actions, newest first. */
export async function readActions(store: Store, limit: number): Promise<RecordedAction[]> {
  const rows = await store.query<Omit<RecordedAction, 'result'> & { result: string | null }>(
    `SELECT toUInt32(toUnixTimestamp(started.at)) AS at, started.user AS user, started.uid AS uid,
            started.command AS command, started.arguments AS arguments, started.reason AS reason,
            ended.how AS result, toUInt32(toUnixTimestamp(ended.time)) AS ended_at
     FROM (
       SELECT * FROM operator_actions WHERE result = 'started'
       ORDER BY at DESC, id DESC LIMIT 1 BY id LIMIT {limit:UInt32}
     ) AS started
     LEFT JOIN (
       SELECT id, toNullable(toString(any(result))) AS how, toNullable(max(at)) AS time
       FROM operator_actions WHERE result != 'started' GROUP BY id
     ) AS ended ON ended.id = started.id
     ORDER BY started.at DESC, started.id DESC`,
    { limit },
  )
  return rows.map((row) => ({ ...row, result: row.result ?? 'started' }))
}

/** The action as a row, without API keys and with aliases in place of tracked wallets. */
async function rowOf(store: Store, { caller, command, reason, ...action }: OperatorAction) {
  const mayName = [...action.arguments, reason].some((word) => ADDRESS.test(word))
  const tracked = mayName ? await readTrackedWallets(store) : []
  const clean = (word: string) =>
    tracked
      .reduce((text, address, at) => text.replaceAll(address, aliasOf(at + 1)), word)
      .replaceAll(KEYS, 'tw_...')
      .slice(0, MOST_CHARACTERS)
  return {
    user: caller.user,
    uid: caller.uid,
    command,
    arguments: action.arguments.slice(0, MOST_WORDS).map(clean),
    reason: clean(reason),
  }
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]'
const KEYS = new RegExp(`tw_${BASE58}{8,}`, 'g')
const ADDRESS = new RegExp(`${BASE58}{32,}`)
const MOST_CHARACTERS = 200
const MOST_WORDS = 50
