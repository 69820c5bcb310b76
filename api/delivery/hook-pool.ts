import { batchCalls } from '../../pipeline/runtime/batch-calls.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
import { repeat } from '../../pipeline/runtime/repeat.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type HookAttempt, storeAttempts } from '../webhooks/deliveries.ts'
import {
  type HookProgress,
  readHookProgress,
  storeHookProgress,
} from '../webhooks/hook-progress.ts'
import { readChangedWebhooks, type StoredWebhook } from '../webhooks/webhooks.ts'
import { type HookOwner, type MayServe, readHookAccess } from './hook-access.ts'
import { type HookLeases, partOf, requirePart } from './hook-leases.ts'
import { HookRunner, type HookRunnerDeps } from './hook-runner.ts'
import type { HookSources } from './hook-source.ts'

/** Dependencies of a pool: those of its runners, without what it gives them itself. */
export interface HookPoolDeps
  extends Omit<
    HookRunnerDeps<unknown>,
    'source' | 'save' | 'mayServe' | 'requireHeld' | 'onAttempt'
  > {
  readonly store: Store
  readonly leases: HookLeases
  readonly sources: HookSources
  /** Called with each attempt to deliver. */
  readonly onAttempt: (hook: StoredWebhook, attempt: HookAttempt) => void
}

/** A replica of the store may have a change this late. */
const LATE_SECONDS = 60
/** How often every webhook is read, for what came later still. */
const WHOLE_MS = 300_000
const PROGRESS_AT_ONCE = 10_000
/** Attempts that wait to be stored; the oldest are dropped beyond that. */
const MOST_ATTEMPTS = 20_000

/**
 * Runs the webhooks whose parts this process has. It looks for changes of webhooks, and for parts
 * that are free, each second.
 */
export class HookPool {
  readonly #deps: HookPoolDeps
  readonly #hooks = new Map<string, StoredWebhook>()
  /** Ids by account and place. */
  readonly #places = new Map<string, string>()
  readonly #running = new Map<string, Running>()
  readonly #save: (saved: Saved) => Promise<unknown>
  readonly #outage: OutageLog
  #attempts: { readonly id: string; readonly attempt: HookAttempt }[] = []
  #mayServe: MayServe = () => false
  #accessReadAt = 0
  /** When changes, and when all webhooks, were last read, in monotonic milliseconds. */
  #readAt = 0
  #wholeReadAt = Number.NEGATIVE_INFINITY
  #checkedAt: number | null = null
  #ticking: Promise<void> = Promise.resolve()
  #stopRepeating: () => Promise<void> = async () => {}

  constructor(deps: HookPoolDeps) {
    this.#deps = deps
    // Those of one moment share an insert, and so do those that come while it is under way.
    this.#save = batchCalls<Saved, void>(
      async (saved) => {
        await storeHookProgress(
          deps.store,
          new Map(saved.map(({ id, progress }) => [id, progress])),
        )
        return new Map()
      },
      { most: PROGRESS_AT_ONCE, atOnce: 1 },
    )
    this.#outage = createOutageLog(
      deps.logger,
      'webhooks cannot be read, trying again',
      'webhooks are read again',
    )
  }

  /** Webhooks that run here. */
  get size(): number {
    return this.#running.size
  }

  /**
   * Unix milliseconds when webhooks were last read, and their attempts stored; null: never. It is
   * at most a second or so ago unless something fails.
   */
  get checkedAt(): number | null {
    return this.#checkedAt
  }

  /** Starts the webhooks, and looks for changes each second. */
  async start(): Promise<void> {
    await this.tick()
    this.#stopRepeating = repeat(TICK_MS, () => this.tick())
  }

  /** Stops every webhook, after the attempts that are under way, and leaves them to others. */
  async stop(): Promise<void> {
    await this.#stopRepeating()
    await this.#ticking
    await this.#end([...this.#running.keys()])
    await this.#storeAttempts().catch(() => {})
    await this.#deps.leases.close().catch(() => {})
  }

  /** Looks for changes. Never rejects. */
  tick(): Promise<void> {
    this.#ticking = this.#ticking.then(() => this.#tick())
    return this.#ticking
  }

  async #tick(): Promise<void> {
    try {
      await this.#deps.leases.renew()
      await this.#readChanges()
      await this.#reconcile()
      if (this.#deps.now() - this.#accessReadAt >= ACCESS_MS) await this.#readAccess()
      await this.#giveAway()
      await this.#storeAttempts()
      this.#checkedAt = this.#deps.now()
      this.#outage.worked()
    } catch (error) {
      this.#outage.failed({ reason: error instanceof Error ? error.message : 'failed' })
    }
  }

  async #readChanges(): Promise<void> {
    const startedAt = performance.now()
    const isWhole = startedAt - this.#wholeReadAt >= WHOLE_MS
    const seconds = Math.ceil((startedAt - this.#readAt) / 1000) + LATE_SECONDS
    const found = await readChangedWebhooks(this.#deps.store, isWhole ? null : seconds)
    this.#readAt = startedAt
    if (isWhole) this.#wholeReadAt = startedAt
    for (const { hook, place, isDeleted } of found) {
      const seat = `${hook.account} ${place}`
      const before = this.#places.get(seat)
      if (before !== undefined && before !== hook.id) this.#hooks.delete(before)
      this.#places.set(seat, hook.id)
      const known = this.#hooks.get(hook.id)
      if (isDeleted) this.#hooks.delete(hook.id)
      else if (JSON.stringify(known) !== JSON.stringify(hook)) {
        this.#hooks.set(hook.id, hook)
        this.#running.get(hook.id)?.runner.update(hook)
      }
    }
  }

  async #readAccess(): Promise<void> {
    const { store, now } = this.#deps
    const held = this.#deps.leases.held()
    const mine = [...this.#hooks.values()].filter(({ id }) => held.has(partOf(id)))
    this.#accessReadAt = now()
    this.#mayServe = await readHookAccess(store, mine, now())
  }

  async #reconcile(): Promise<void> {
    const held = this.#deps.leases.held()
    const isMine = (id: string) => this.#hooks.has(id) && held.has(partOf(id))
    await this.#end([...this.#running.keys()].filter((id) => !isMine(id)))
    const added = [...this.#hooks.keys()].filter((id) => isMine(id) && !this.#running.has(id))
    if (added.length === 0) return
    const progress = await readHookProgress(this.#deps.store, added)
    await this.#readAccess()
    for (const id of added) this.#begin(id, progress.get(id) ?? null)
  }

  #begin(id: string, progress: HookProgress | null): void {
    const hook = this.#hooks.get(id)
    if (hook === undefined) return
    const { leases, sources, onAttempt } = this.#deps
    const deps = {
      ...this.#deps,
      save: async (id: string, progress: HookProgress) => void (await this.#save({ id, progress })),
      mayServe: (hook: HookOwner) => this.#mayServe(hook),
      requireHeld: () => requirePart(leases, partOf(id)),
      onAttempt: (hook: StoredWebhook, attempt: HookAttempt) => {
        this.#attempts.push({ id, attempt })
        if (this.#attempts.length > MOST_ATTEMPTS) this.#attempts.shift()
        onAttempt(hook, attempt)
      },
    }
    const runner =
      hook.channel === 'trades'
        ? new HookRunner({ ...deps, source: sources.trades }, hook, progress)
        : new HookRunner({ ...deps, source: sources.view(hook.channel) }, hook, progress)
    this.#running.set(id, { runner, ended: runner.run() })
  }

  async #end(ids: readonly string[]): Promise<void> {
    const ending = ids.flatMap((id) => this.#running.get(id) ?? [])
    for (const { runner } of ending) runner.stop()
    await Promise.all(ending.map(({ ended }) => ended))
    for (const id of ids) this.#running.delete(id)
  }

  /** Leaves parts to processes that have fewer. */
  async #giveAway(): Promise<void> {
    const { leases } = this.#deps
    const parts = [...leases.held()].slice(0, leases.surplus())
    for (const part of parts) {
      await this.#end([...this.#running.keys()].filter((id) => partOf(id) === part))
      await leases.release(part)
    }
  }

  async #storeAttempts(): Promise<void> {
    const attempts = this.#attempts
    if (attempts.length === 0) return
    this.#attempts = []
    await storeAttempts(this.#deps.store, attempts).catch((error: unknown) => {
      this.#attempts = [...attempts, ...this.#attempts].slice(-MOST_ATTEMPTS)
      throw error
    })
  }
}

interface Running {
  readonly runner: Pick<HookRunner<unknown>, 'update' | 'stop'>
  readonly ended: Promise<void>
}

interface Saved {
  readonly id: string
  readonly progress: HookProgress
}

const TICK_MS = 1000
/** How soon a webhook stops after its account was disabled, or its Pro ended. */
const ACCESS_MS = 5000
