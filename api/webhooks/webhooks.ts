import { randomUUID } from 'node:crypto'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { AccountLocks } from '../account-locks.ts'
import type { Account } from '../credits/meter.ts'

/** Channels of webhooks: those of the feed. */
export const HOOK_CHANNELS = ['trades', 'watchlist', 'signals'] as const
export type HookChannel = (typeof HOOK_CHANNELS)[number]

/** How many webhooks an account may have. */
export const MOST_WEBHOOKS = 10

/** What the owner of a webhook chooses. */
export interface WebhookTerms {
  readonly url: string
  /** Numbers of wallets; empty: all. */
  readonly wallets: readonly number[]
  /** Empty: all. */
  readonly mints: readonly string[]
}

/** A webhook of an account (rule M1). Times in unix milliseconds. */
export interface StoredWebhook extends WebhookTerms {
  readonly id: string
  readonly account: Account
  readonly channel: HookChannel
  /** False: the owner has paused it. */
  readonly isActive: boolean
  /** How often the owner has set it active. */
  readonly activations: number
  /** How often its filter was changed. */
  readonly filters: number
  /** How often its secret was rotated, and when last. */
  readonly rotations: number
  readonly rotatedAt: number | null
  /** How often it was sent to a cursor, the start included; the newest; empty: from now on. */
  readonly replays: number
  readonly replayAfter: string
  /** How often a test was asked for. */
  readonly tests: number
  readonly createdAt: number
}

/** A change of a webhook by its owner. */
export type WebhookChange = Partial<WebhookTerms & Pick<StoredWebhook, 'isActive'>> & {
  readonly rotate?: true
  readonly replayAfter?: string
  readonly test?: true
}

/**
 * The webhooks of accounts. A webhook that was deleted keeps its row until another one takes its
 * place. Every method rejects with a retriable ServiceError `unavailable` when the store does not
 * answer.
 */
export class Webhooks {
  readonly #store: Store
  readonly #locks: AccountLocks
  readonly #now: () => number

  constructor(deps: {
    readonly store: Store
    readonly locks: AccountLocks
    readonly now: () => number
  }) {
    this.#store = deps.store
    this.#locks = deps.locks
    this.#now = deps.now
  }

  /** Returns the webhooks of an account that were not deleted, oldest first. */
  async list(account: Account): Promise<StoredWebhook[]> {
    return (await this.#read(account)).filter(({ deletedAt }) => deletedAt === null)
  }

  /**
   * Creates a webhook that begins after a cursor (empty: from now on). Returns null if the account
   * has `MOST_WEBHOOKS`.
   */
  create(
    account: Account,
    terms: WebhookTerms & { readonly channel: HookChannel; readonly after: string },
  ): Promise<StoredWebhook | null> {
    return this.#locks.withLock(`webhooks:${account}`, async (lock) => {
      const stored = await this.#read(account)
      const taken = new Set(stored.flatMap((hook) => (hook.deletedAt === null ? [hook.place] : [])))
      const place = PLACES.find((one) => !taken.has(one))
      if (place === undefined) return null
      const now = this.#now()
      const { after, ...chosen } = terms
      const hook: StoredWebhook = {
        ...chosen,
        id: randomUUID(),
        account,
        isActive: true,
        activations: 0,
        filters: 0,
        rotations: 0,
        rotatedAt: null,
        replays: 1,
        replayAfter: after,
        tests: 0,
        createdAt: now,
      }
      const before = stored.find((one) => one.place === place)?.version ?? 0
      lock.requireHeld()
      const version = Math.max(now, before + 1)
      await this.#store.insert('webhooks', [rowOf({ ...hook, place, version, deletedAt: null })])
      return hook
    })
  }

  /** Changes a webhook, by id. Returns it as it is then; null if the account has no such one. */
  change(account: Account, id: string, change: WebhookChange): Promise<StoredWebhook | null> {
    return this.#write(account, id, (hook, now) => {
      const { rotate, replayAfter, test, ...terms } = change
      const isFilter = terms.wallets !== undefined || terms.mints !== undefined
      return {
        ...hook,
        ...terms,
        activations: hook.activations + Number(terms.isActive === true),
        filters: hook.filters + Number(isFilter),
        ...(rotate && { rotations: hook.rotations + 1, rotatedAt: now }),
        ...(replayAfter !== undefined && { replays: hook.replays + 1, replayAfter }),
        ...(test && { tests: hook.tests + 1 }),
      }
    })
  }

  /** Deletes a webhook, by id. Returns whether the account has had it. */
  async delete(account: Account, id: string): Promise<boolean> {
    return (await this.#write(account, id, (hook, now) => ({ ...hook, deletedAt: now }))) !== null
  }

  #write(
    account: Account,
    id: string,
    change: (hook: Kept, now: number) => Kept,
  ): Promise<StoredWebhook | null> {
    return this.#locks.withLock(`webhooks:${account}`, async (lock) => {
      const hook = (await this.#read(account)).find((one) => one.id === id)
      if (hook === undefined || hook.deletedAt !== null) return null
      const now = this.#now()
      const version = Math.max(now, hook.version + 1)
      const changed = { ...change(hook, now), version }
      lock.requireHeld()
      await this.#store.insert('webhooks', [rowOf(changed)])
      return changed
    })
  }

  async #read(account: Account): Promise<Kept[]> {
    const rows = await this.#store.query<WebhookRow>(
      `SELECT ${COLUMNS} FROM webhooks FINAL WHERE wallet = {account:String}
       ORDER BY created_at, place LIMIT 100`,
      { account },
    )
    return rows.map(keptOf)
  }
}

/** A webhook of any account, as it was found. */
export interface FoundWebhook {
  readonly hook: StoredWebhook
  readonly isDeleted: boolean
  /** Another webhook of the account with this place has ended. */
  readonly place: number
}

/**
 * Returns the webhooks of all accounts that were stored in the last seconds, by the clock of the
 * server; null: all. Deleted ones too.
 */
export async function readChangedWebhooks(
  store: Store,
  seconds: number | null,
): Promise<FoundWebhook[]> {
  const rows = await store.query<WebhookRow>(
    `SELECT ${COLUMNS} FROM webhooks FINAL
     WHERE {seconds:Int64} < 0 OR stored_at >= now64(3) - toIntervalSecond({seconds:Int64})
     ORDER BY id LIMIT 1000000`,
    { seconds: seconds ?? -1 },
  )
  return rows.map(keptOf).map(({ deletedAt, place, version: _, ...hook }) => ({
    hook,
    place,
    isDeleted: deletedAt !== null,
  }))
}

const PLACES = Array.from({ length: MOST_WEBHOOKS }, (_, at) => at + 1)

/** A webhook with its row. */
interface Kept extends StoredWebhook {
  readonly place: number
  readonly deletedAt: number | null
  readonly version: number
}

const COLUMNS = `wallet, place, id, url, channel, wallets, mints, is_active, activations, filters,
  rotations, toUnixTimestamp64Milli(rotated_at) AS rotated, replays, replay_after, tests,
  toUnixTimestamp64Milli(created_at) AS created, toUnixTimestamp64Milli(deleted_at) AS deleted, version`

interface WebhookRow {
  readonly wallet: string
  readonly place: number
  readonly id: string
  readonly url: string
  readonly channel: HookChannel
  readonly wallets: readonly number[]
  readonly mints: readonly string[]
  readonly is_active: boolean
  readonly activations: number
  readonly filters: number
  readonly rotations: number
  readonly rotated: string | null
  readonly replays: number
  readonly replay_after: string
  readonly tests: number
  readonly created: string
  readonly deleted: string | null
  readonly version: string
}

function keptOf(row: WebhookRow): Kept {
  return {
    id: row.id,
    account: row.wallet,
    url: row.url,
    channel: row.channel,
    wallets: row.wallets,
    mints: row.mints,
    isActive: row.is_active,
    activations: row.activations,
    filters: row.filters,
    rotations: row.rotations,
    rotatedAt: row.rotated === null ? null : Number(row.rotated),
    replays: row.replays,
    replayAfter: row.replay_after,
    tests: row.tests,
    createdAt: Number(row.created),
    place: row.place,
    deletedAt: row.deleted === null ? null : Number(row.deleted),
    version: Number(row.version),
  }
}

function rowOf(hook: Kept): Row {
  return {
    wallet: hook.account,
    place: hook.place,
    id: hook.id,
    url: hook.url,
    channel: hook.channel,
    wallets: [...hook.wallets],
    mints: [...hook.mints],
    is_active: hook.isActive,
    activations: hook.activations,
    filters: hook.filters,
    rotations: hook.rotations,
    rotated_at: hook.rotatedAt === null ? null : dateTime(hook.rotatedAt),
    replays: hook.replays,
    replay_after: hook.replayAfter,
    tests: hook.tests,
    created_at: dateTime(hook.createdAt),
    deleted_at: hook.deletedAt === null ? null : dateTime(hook.deletedAt),
    version: hook.version,
  }
}
