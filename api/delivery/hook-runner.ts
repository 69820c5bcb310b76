import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Charged, Credits } from '../credits/credits.ts'
import type { HookAttempt } from '../webhooks/deliveries.ts'
import { type HookProgress, type HookState, NO_PROGRESS } from '../webhooks/hook-progress.ts'
import type { WebhookSecrets } from '../webhooks/signature.ts'
import type { StoredWebhook } from '../webhooks/webhooks.ts'
import type { MayServe } from './hook-access.ts'
import type { HookMessage, HookSource, NextMessages } from './hook-source.ts'
import type { Outcome, Receivers } from './receiver.ts'

/** Dependencies of a runner. */
export interface HookRunnerDeps<Position> {
  readonly source: HookSource<Position>
  readonly receivers: Pick<Receivers, 'post'>
  readonly secrets: Pick<WebhookSecrets, 'headers'>
  readonly credits: Pick<Credits, 'charge' | 'giveBackLater'>
  /** Stores the progress. Resolves when a crash would not lose it. Rejects with `unavailable`. */
  readonly save: (id: string, progress: HookProgress) => Promise<void>
  /** Whether messages may be delivered to a webhook now. */
  readonly mayServe: MayServe
  /** Throws `unavailable` if another process may run the webhook now. */
  readonly requireHeld: () => void
  readonly onAttempt: (hook: StoredWebhook, attempt: HookAttempt) => void
  readonly logger: Logger
  /** Unix milliseconds. */
  readonly now: () => number
  /** Resolves after `ms`, or when the signal was aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How long `next` waits for a message. */
const WAIT_MS = 30_000
/** How often a webhook looks whether what it waits for has come. */
const LOOK_AGAIN_MS = 30_000
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000
const LONGEST_ASKED_MS = 3_600_000
/** A webhook that fails for so long is paused (rule M1). */
const FAILING_MS = 24 * 3_600_000
/** A webhook is not paused before so many attempts, whatever the clock says: it may be wrong. */
const LEAST_ATTEMPTS = 10
/** What was delivered is stored so soon; after a crash the rest is delivered again. */
const STORE_MS = 1000
/** A position that moved without a message is stored this often. */
const STORE_IDLE_MS = 60_000
/** The position of a paused webhook is stored this often, because its row expires after 30 days. */
const STORE_PAUSED_MS = 24 * 3_600_000
/** Trades beside those of the delivery under way that are known to be paid. */
const MOST_KEPT = 1000

/**
 * Delivers the messages of one webhook (rule M1): in order, at least once, each trade charged once.
 *
 * The trades of a delivery are stored as paid first, and charged then. If the process crashes
 * between the two, the next process delivers those trades without charging them: one delivery is
 * free at worst, and no trade is charged twice.
 */
export class HookRunner<Position> {
  readonly #deps: HookRunnerDeps<Position>
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly #stopping = new AbortController()
  #hook: StoredWebhook
  #progress: HookProgress
  /** Aborted when the webhook was changed, and replaced: ends what waits. */
  #changed = new AbortController()
  #storedAt = 0
  /** Whether something was delivered that is not stored. */
  #isDirty = false
  /**
   * Trades that were paid before their owner changed the filter or the position. They are not given
   * back when they do not come any more: the receiver may have read them.
   */
  #kept: ReadonlySet<string> = new Set()
  /** Aborted soon after `stop`: ends the attempt that is under way. */
  readonly #cut = new AbortController()
  #cutTimer: NodeJS.Timeout | undefined
  /** Charges whose outcome is unknown, and which are refunded; the next one is another request. */
  #refunded = 0

  constructor(deps: HookRunnerDeps<Position>, hook: StoredWebhook, progress: HookProgress | null) {
    this.#deps = deps
    this.#pause = deps.pause ?? pauseUntil
    this.#hook = hook
    this.#progress = progress ?? NO_PROGRESS
  }

  /** Takes over a changed row of `webhooks`. */
  update(hook: StoredWebhook): void {
    this.#hook = hook
    this.#changed.abort()
  }

  /** Ends `run`, after the attempt that is under way or, if that takes longer, after `graceMs`. */
  stop(graceMs = 1000): void {
    this.#stopping.abort()
    this.#changed.abort()
    this.#cutTimer = setTimeout(() => this.#cut.abort(), graceMs)
  }

  /** Delivers until it is stopped, or another process may have the webhook. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#step()
      } catch (error) {
        const isExpected = error instanceof ServiceError && error.code === 'unavailable'
        if (!isExpected) this.#deps.logger.error({ err: error }, 'a webhook failed; tries again')
        await this.#wait(FIRST_RETRY_MS)
      }
    }
    clearTimeout(this.#cutTimer)
    // What was accepted and is not stored yet would be delivered again.
    if (this.#isDirty) await this.#save({}).catch(() => {})
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Whether only its owner can make it go on. */
  get #isEnded(): boolean {
    return ['failing', 'gone'].includes(this.#progress.state)
  }

  async #step(): Promise<void> {
    // First, because what throws is followed by a wait that the change would end at once.
    if (this.#changed.signal.aborted && !this.#isStopped) this.#changed = new AbortController()
    this.#deps.requireHeld()
    await this.#takeOver()
    if (!this.#hook.isActive || this.#isEnded) {
      if (this.#deps.now() - this.#storedAt >= STORE_PAUSED_MS) await this.#save({})
      await this.#wait(LOOK_AGAIN_MS)
      return
    }
    if (!this.#deps.mayServe(this.#hook)) {
      await this.#waitAs('disabled')
      return
    }
    if (this.#progress.state === 'disabled') await this.#save({ state: 'active' })
    const next = await this.#next()
    if (next.messages.length > 0) await this.#deliver(next)
    else await this.#move(next.end)
  }

  /** Does what the owner asked for since the last time. */
  async #takeOver(): Promise<void> {
    const { source } = this.#deps
    const { filters, replays, replayAfter, tests, activations } = this.#hook
    const progress = this.#progress
    const change: { -readonly [Name in keyof HookProgress]?: HookProgress[Name] } = {}
    if (replays > progress.replays) {
      const after = source.decode(replayAfter) ?? source.now()
      change.after = source.encode(after)
      change.replays = replays
      if (progress.after === '') change.filterAfter = change.after
      else if (progress.freeThrough === '') {
        change.freeAfter = progress.filterAfter
        change.freeThrough = progress.after
      }
    }
    if (filters > progress.filters) {
      // What the new filter adds was not paid, wherever a replay is.
      change.filters = filters
      change.filterAfter = change.after ?? progress.after
      change.freeThrough = ''
    }
    if (activations > progress.activations) {
      change.activations = activations
      change.state = 'active'
      change.failingSince = null
    }
    if (tests > progress.tests) change.tests = tests
    if (Object.keys(change).length === 0) return
    await this.#save(change)
    if (change.replays !== undefined || change.filters !== undefined)
      this.#kept = new Set(progress.charged)
    if (change.tests !== undefined) await this.#test()
  }

  async #test(): Promise<void> {
    const hook = this.#hook
    const body = { type: 'test', timestamp: this.#time(), data: { webhook: hook.id } }
    const delivery = `${hook.id}.test.${hook.tests}`
    await this.#post(JSON.stringify(body), { delivery, kind: 'test', messages: 0, attempt: 1 })
  }

  async #next(): Promise<NextMessages<Position>> {
    const { source } = this.#deps
    const after = source.decode(this.#progress.after)
    if (after === null) throw new Error('the stored position of a webhook is no position')
    const { wallets, mints, account } = this.#hook
    const filter = {
      wallets: wallets.length === 0 ? null : new Set(wallets),
      mints: mints.length === 0 ? null : new Set(mints),
    }
    const { signal } = this.#changed
    const waitMs = this.#isDirty ? STORE_MS : WAIT_MS
    return source.next({ account, filter, after, waitMs, signal })
  }

  async #deliver(next: NextMessages<Position>): Promise<void> {
    const paid = await this.#pay(next)
    if (paid === null) {
      await this.#waitAs('balance_exhausted')
      return
    }
    const { source } = this.#deps
    const hook = this.#hook
    const after = source.encode(paid.end)
    const messages = paid.messages.map(({ text }) => text).join(',')
    const type = JSON.stringify(hook.channel)
    const data = `{"webhook":"${hook.id}","cursor":"${after}","messages":[${messages}]}`
    const body = `{"type":${type},"timestamp":"${this.#time()}","data":${data}}`
    const delivery = `${hook.id}.${after}`
    const count = paid.messages.length
    if (!(await this.#postUntilAccepted(body, { delivery, kind: 'messages', messages: count })))
      return
    const retracted = paid.messages.flatMap(({ retracts }) => retracts ?? [])
    if (retracted.length > 0) this.#giveBack(retracted)
    this.#arrive(paid, after)
    this.#isDirty = true
    if (this.#deps.now() - this.#storedAt >= STORE_MS) await this.#save({})
  }

  /**
   * Charges what of a delivery is not paid yet. Returns the part that is paid; null if the account
   * has no credits.
   */
  async #pay(next: NextMessages<Position>): Promise<NextMessages<Position> | null> {
    this.#giveBackGone(next)
    const before = this.#progress
    const known = new Set(before.charged)
    const isUnpaid = (message: HookMessage<Position>) =>
      message.trade !== null && !known.has(message.trade) && !this.#isReplayed(message)
    const unpaid = next.messages.filter(isUnpaid)
    if (unpaid.length === 0) return next
    const charged = await this.#charge(unpaid, before)
    if (charged.kind === 'charged') return next
    const part = firstPart(next, isUnpaid, charged.left)
    const affordable = part?.messages.filter(isUnpaid) ?? []
    if (affordable.length === 0) return part
    return (await this.#charge(affordable, before)).kind === 'charged' ? part : null
  }

  /** Charges trades, which are stored as paid before. Rejects with `unavailable`. */
  async #charge(unpaid: readonly HookMessage<Position>[], before: HookProgress): Promise<Charged> {
    const { credits } = this.#deps
    const { account, id } = this.#hook
    const count = unpaid.length
    const paid = before.charged.length
    const trades = unpaid.map(({ trade }) => trade ?? '')
    await this.#save({ charged: [...before.charged.slice(-MOST_KEPT), ...trades] })
    this.#deps.requireHeld()
    // Two processes that both believe to have the webhook charge from the same position once.
    const request = `hook:${id}:${before.replays}:${before.after}:${paid}:${count}:${this.#refunded}`
    const charged = await credits.charge(account, count, request).catch(async (error) => {
      this.#refunded++
      await this.#save({ charged: before.charged })
      throw error
    })
    if (charged.kind === 'insufficient') await this.#save({ charged: before.charged })
    else if (before.state !== 'active') this.#set({ state: 'active' })
    return charged
  }

  /**
   * Gives back what was paid for a delivery that was not accepted, and does not come any more,
   * because its block was withdrawn.
   */
  #giveBackGone({ messages, hasMore }: NextMessages<Position>): void {
    const { charged } = this.#progress
    if (hasMore || charged.length === 0) return
    const coming = new Set(messages.map(({ trade }) => trade))
    const isGone = (id: string) => !coming.has(id) && !this.#kept.has(id)
    const gone = charged.filter(isGone)
    if (gone.length === 0) return
    this.#giveBack(gone)
    this.#set({ charged: charged.filter((id) => !isGone(id)) })
  }

  #giveBack(trades: readonly string[]): void {
    const { account, id } = this.#hook
    const own = trades.map((trade) => `${trade}:${id}`)
    this.#deps.credits.giveBackLater(account, own)
  }

  /** Whether a trade lies where the webhook is replayed, and was paid there. */
  #isReplayed({ after }: HookMessage<Position>): boolean {
    const { source } = this.#deps
    const { freeAfter, freeThrough } = this.#progress
    if (freeThrough === '') return false
    const [from, through] = [source.decode(freeAfter), source.decode(freeThrough)]
    if (through === null || !source.isWithin(after, through)) return false
    return from === null || !source.isWithin(after, from)
  }

  /** Returns false if the webhook was changed, paused or stopped before. */
  async #postUntilAccepted(
    body: string,
    about: Pick<HookAttempt, 'delivery' | 'kind' | 'messages'>,
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      this.#deps.requireHeld()
      const outcome = await this.#post(body, { ...about, attempt })
      if (outcome.failure !== null && this.#cut.signal.aborted) return false
      if (outcome.failure === null) {
        if (this.#progress.failingSince !== null) this.#set({ failingSince: null })
        return true
      }
      const since = this.#progress.failingSince ?? this.#deps.now()
      if (outcome.status === 410) await this.#save({ state: 'gone' })
      else if (attempt >= LEAST_ATTEMPTS && this.#deps.now() - since >= FAILING_MS)
        await this.#save({ state: 'failing' })
      else if (this.#progress.failingSince === null) await this.#save({ failingSince: since })
      if (this.#isEnded) return false
      await this.#wait(retryMs(attempt, outcome.retryAfterSeconds))
      if (this.#changed.signal.aborted) return false
    }
  }

  async #post(
    body: string,
    about: Pick<HookAttempt, 'delivery' | 'kind' | 'messages' | 'attempt'>,
  ): Promise<Outcome> {
    const { receivers, secrets, now, onAttempt } = this.#deps
    const hook = this.#hook
    const at = now()
    const headers = secrets.headers(hook, about.delivery, body, at)
    const outcome = await receivers.post(hook.url, headers, body, this.#cut.signal)
    const { failure, status, latencyMs } = outcome
    onAttempt(hook, { ...about, failure, status, latencyMs, at })
    return outcome
  }

  async #move(end: Position): Promise<void> {
    const after = this.#deps.source.encode(end)
    this.#arrive({ messages: [], end }, after)
    const age = this.#deps.now() - this.#storedAt
    if (age >= (this.#isDirty ? STORE_MS : STORE_IDLE_MS)) await this.#save({})
  }

  #arrive({ messages, end }: Pick<NextMessages<Position>, 'messages' | 'end'>, after: string) {
    const { source } = this.#deps
    const { freeThrough } = this.#progress
    const delivered = new Set(messages.map(({ trade }) => trade))
    const charged = this.#progress.charged.filter((id) => !delivered.has(id))
    const through = freeThrough === '' ? null : source.decode(freeThrough)
    const isDone = through !== null && source.isWithin(through, end)
    this.#set({ after, charged, ...(isDone && { freeThrough: '' }) })
  }

  async #waitAs(state: HookState): Promise<void> {
    if (this.#progress.state !== state) await this.#save({ state })
    await this.#wait(LOOK_AGAIN_MS)
  }

  #set(change: Partial<HookProgress>): void {
    this.#progress = { ...this.#progress, ...change }
  }

  async #save(change: Partial<HookProgress>): Promise<void> {
    this.#deps.requireHeld() // the progress of whoever has it now would be overwritten
    const version = Math.max(this.#deps.now(), this.#progress.version + 1)
    const progress = { ...this.#progress, ...change, version }
    await this.#deps.save(this.#hook.id, progress)
    this.#progress = progress
    this.#storedAt = this.#deps.now()
    this.#isDirty = false
  }

  #wait(ms: number): Promise<void> {
    return this.#pause(ms, this.#changed.signal)
  }

  #time(): string {
    return new Date(this.#deps.now()).toISOString()
  }
}

/** The first messages of which at most `most` are unpaid; null if not even one is. */
function firstPart<Position>(
  next: NextMessages<Position>,
  isUnpaid: (message: HookMessage<Position>) => boolean,
  most: number,
): NextMessages<Position> | null {
  let unpaid = 0
  const cut = next.messages.findIndex((message) => isUnpaid(message) && ++unpaid > most)
  if (cut === -1) return next
  const messages = next.messages.slice(0, cut)
  const end = messages.at(-1)?.after
  return end === undefined ? null : { messages, end, hasMore: true }
}

function retryMs(attempt: number, askedSeconds: number | null): number {
  const ms = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS)
  return Math.max(ms, Math.min((askedSeconds ?? 0) * 1000, LONGEST_ASKED_MS))
}

/** A webhook that waits does not keep its process from ending. */
async function pauseUntil(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => {}) // aborted
}
