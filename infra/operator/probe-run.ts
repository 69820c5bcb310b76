import { Refused, TrackedWallets } from '../../api/client/client.ts'
import type { TradeItem } from '../../api/items/trade.ts'
import { pause } from '../../pipeline/runtime/pause.ts'
import { createProbeComparison } from './probe-comparison.ts'
import type { ProbeMetrics } from './telemetry.ts'

/** A kind of fault that the probe finds. */
export type ProbeFault = 'unreachable' | 'lag' | 'repeated' | 'differs'

/** What the probe found. Lags are in seconds, null without a trade. */
export interface ProbeSummary {
  readonly seconds: number
  readonly trades: number
  readonly late: number
  readonly retracted: number
  readonly compared: number
  readonly connections: number
  readonly lag_p50: number | null
  readonly lag_p99: number | null
  readonly lag_max: number | null
  /** Number of faults by kind; empty without a fault. */
  readonly faults: Readonly<Partial<Record<ProbeFault, number>>>
}

/** Parameters of `runProbe`. */
export interface ProbeOptions {
  readonly url: string
  readonly apiKey: string
  /** Aliases of the wallets to follow; null: all. */
  readonly wallets: readonly string[] | null
  /** Lag from which on a trade, or `/status`, is a fault, in seconds. */
  readonly maxLagSeconds: number
  readonly metrics: ProbeMetrics
  /** Ends the probe. */
  readonly stop: AbortSignal
  /** Called every ten seconds with what was found so far. */
  readonly onProgress: (summary: ProbeSummary) => void
  /** Pause between checks, and age from which on trades are compared. Default: 10 and 20 s. */
  readonly everyMs?: number
  readonly settleSeconds?: number
  /** How long the feed may be away; default 15 s, in which a client reconnects. */
  readonly reconnectMs?: number
}

/** The probe fails for this long after a fault. */
const FAULT_MS = 60_000
/** An answer that takes longer is none. */
const ANSWER_MS = 10_000
/** Lags in memory, the newest. */
const KEPT_LAGS = 10_000
/** Trade ids in memory, the newest. */
const KEPT_IDS = 100_000
/** The most pages of `GET /trades` in one comparison, 3 credits each. */
const MAX_PAGES = 5

/**
 * Follows the feed as a customer does, until `stop`. Measures the lag of each trade, compares
 * `GET /trades` with the feed, and asks `GET /status`. Rejects with `Refused` or `FeedEnded` if the
 * key is refused or has no credits.
 */
export async function runProbe(options: ProbeOptions): Promise<ProbeSummary> {
  const probe = new Probe(options)
  await probe.run()
  return probe.summary()
}

class Probe {
  readonly #options: ProbeOptions
  readonly #client: TrackedWallets
  readonly #comparison = createProbeComparison()
  readonly #began = performance.now()
  readonly #lags: number[] = []
  readonly #ids = new Set<string>()
  readonly #faults: Partial<Record<ProbeFault, number>> = {}
  readonly #counts = { trades: 0, late: 0, retracted: 0, compared: 0, connections: 0 }
  #faultAt = Number.NEGATIVE_INFINITY
  /** When the feed was lost, or the start; null while connected. */
  #cutAt: number | null = performance.now()
  /** Comparison begins after this block time: older trades were not on the feed. */
  #since = 0

  constructor(options: ProbeOptions) {
    this.#options = options
    this.#client = new TrackedWallets(options)
  }

  async run(): Promise<void> {
    const { stop, metrics } = this.#options
    metrics.up.set(1)
    const ending = new AbortController()
    const { signal } = ending
    const end = () => ending.abort()
    stop.addEventListener('abort', end, { once: true })
    if (stop.aborted) end()
    const first = await this.#start(signal)
    if (first === null) return
    this.#since = first.items[0]?.block_time ?? Math.floor(Date.now() / 1000)
    await Promise.all([
      this.#follow(first.head, signal).finally(end),
      this.#check(signal).finally(end),
    ])
  }

  /**
   * The newest trade and the position after it. Waits for a service that is down; null if stopped.
   */
  async #start(signal: AbortSignal) {
    while (!signal.aborted) {
      const page = await this.#ask(() => this.#client.trades({ limit: 1 }))
      if (page !== null) return page
      await pause(1000, signal)
    }
    return null
  }

  async #follow(after: string, signal: AbortSignal): Promise<void> {
    const { wallets, metrics } = this.#options
    const onNotice = ({ type }: { readonly type: string }) => {
      if (type === 'connected') this.#counts.connections++
      if (type === 'connected') this.#cutAt = null
      if (type === 'cut') this.#cutAt ??= performance.now()
    }
    const filter = wallets === null ? {} : { wallets }
    for await (const one of this.#client.follow({ after, signal, onNotice, ...filter })) {
      if (one.kind === 'gap') this.#since = Math.floor(Date.now() / 1000)
      if (one.kind === 'retracted') {
        this.#counts.retracted++
        this.#ids.delete(one.tradeId)
        this.#comparison.retract(one.trade)
      }
      if (one.kind !== 'trade') continue
      this.#counts.trades++
      metrics.trades.inc()
      if (this.#ids.has(one.tradeId)) this.#fault('repeated')
      this.#remember(one.tradeId)
      this.#comparison.note(one.trade)
      if (one.late) this.#counts.late++
      else this.#measure(one.trade)
    }
  }

  #measure(trade: TradeItem): void {
    const lag = Math.max(0, Date.now() / 1000 - trade.block_time)
    this.#options.metrics.lagSeconds.observe(lag)
    this.#lags.push(lag)
    if (this.#lags.length > KEPT_LAGS) this.#lags.shift()
    if (lag > this.#options.maxLagSeconds) this.#fault('lag')
  }

  #remember(tradeId: string): void {
    this.#ids.add(tradeId)
    for (const oldest of this.#ids) {
      if (this.#ids.size <= KEPT_IDS) return
      this.#ids.delete(oldest)
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { everyMs = 10_000, reconnectMs = 15_000 } = this.#options
    const { metrics, maxLagSeconds, onProgress } = this.#options
    await pause(everyMs, signal)
    while (!signal.aborted) {
      if (this.#cutAt !== null && performance.now() - this.#cutAt > reconnectMs)
        this.#fault('unreachable')
      const status = await this.#ask(() => this.#client.status())
      if (status !== null && (status.lag_seconds ?? 0) > maxLagSeconds) this.#fault('lag')
      if (status !== null) await this.#compare(signal)
      metrics.up.set(performance.now() - this.#faultAt < FAULT_MS ? 0 : 1)
      onProgress(this.summary())
      await pause(everyMs, signal)
    }
  }

  async #compare(signal: AbortSignal): Promise<void> {
    const { settleSeconds = 20, everyMs = 10_000, wallets, metrics } = this.#options
    const to = Math.floor(Date.now() / 1000) - settleSeconds
    // Each second is compared at least twice: differences count that stay.
    let from = Math.max(this.#since, to - Math.ceil((3 * everyMs) / 1000))
    const items: TradeItem[] = []
    let cursor: string | undefined
    for (let pages = 0; ; pages++) {
      const page = await this.#ask(() =>
        this.#client.trades({ limit: 100, ...(cursor && { cursor }) }),
      )
      if (page === null || signal.aborted) return
      items.push(...page.items)
      cursor = page.next_cursor ?? undefined
      const oldest = page.items.at(-1)?.block_time ?? 0
      if (oldest <= from || cursor === undefined) break
      if (pages === MAX_PAGES - 1) from = oldest // whose second may go on in the next page
      if (pages === MAX_PAGES - 1) break
    }
    const rest = items.filter(({ wallet }) => wallets?.includes(wallet) ?? true)
    const { compared, differing } = this.#comparison.compare(rest, from, to)
    this.#counts.compared += compared
    metrics.compared.inc(compared)
    if (differing > 0) this.#fault('differs')
  }

  /** Null, and a fault, if the service does not answer. Rejects if it refuses the key. */
  async #ask<T extends object>(call: () => Promise<T>): Promise<T | null> {
    const timer = new AbortController()
    try {
      const answer = await Promise.race([call(), pause(ANSWER_MS, timer.signal)])
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof Refused && [401, 402, 403].includes(error.status)) throw error
    } finally {
      timer.abort()
    }
    this.#fault('unreachable')
    return null
  }

  #fault(fault: ProbeFault): void {
    this.#faultAt = performance.now()
    this.#faults[fault] = (this.#faults[fault] ?? 0) + 1
    this.#options.metrics.faults.inc({ fault })
    this.#options.metrics.up.set(0)
  }

  summary(): ProbeSummary {
    const sorted = this.#lags.toSorted((a, b) => a - b)
    const at = (share: number) => {
      const lag = sorted[Math.ceil(share * sorted.length) - 1]
      return lag === undefined ? null : Math.round(lag * 1000) / 1000
    }
    return {
      seconds: Math.round((performance.now() - this.#began) / 1000),
      ...this.#counts,
      lag_p50: at(0.5),
      lag_p99: at(0.99),
      lag_max: at(1),
      faults: { ...this.#faults },
    }
  }
}
