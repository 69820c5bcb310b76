import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Credits } from '../../../api/credits/credits.ts'
import { Ledger } from '../../../api/credits/ledger.ts'
import type { Meter } from '../../../api/credits/meter.ts'
import { createRedisMeter } from '../../../api/credits/redis.ts'
import type { RedisUrl } from '../../../api/redis-url.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import type { Store } from '../../../pipeline/store/store.ts'

const logger = createLogger('silent')
const ACCOUNTS = Array.from({ length: 20 }, () => randomUUID())
const TICK_MS = 10

/** Charges of one credit each, as several API processes make them. */
export class ChargeLoad {
  readonly #store: Store
  readonly #processes: { meter: Meter; ledger: Ledger; credits: Credits }[] = []
  /** When each charge was acknowledged, in monotonic milliseconds. */
  readonly #acknowledgedAt: number[] = []
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #lost = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Opens the processes and grants credits to the accounts. */
  async open(url: RedisUrl, processes: number): Promise<void> {
    for (let at = 0; at < processes; at++) {
      const meter = await createRedisMeter(url, { logger }, { prefix: `drill:{${ACCOUNTS[0]}}:` })
      const ledger = new Ledger({ store: this.#store, meter })
      this.#processes.push({ meter, ledger, credits: new Credits({ meter, ledger, logger }) })
    }
    for (const account of ACCOUNTS)
      await this.#processes[0]?.ledger.append([
        { account, key: 'drill', credits: 1e9, cause: 'grant', reason: 'drill' },
      ])
  }

  get acknowledged(): number {
    return this.#acknowledgedAt.length
  }

  /** Charges at `rate` a second, until `settle`. */
  start(rate: number): void {
    for (const { credits } of this.#processes) credits.start()
    let due = 0
    this.#timer = setInterval(() => {
      for (due += (rate * TICK_MS) / 1000; due >= 1; due--) this.#charge()
    }, TICK_MS)
  }

  /** Resolves at the first charge acknowledged from now on, with its time. */
  async nextAcknowledged(): Promise<number> {
    const before = this.acknowledged
    while (this.acknowledged === before) await delay(5)
    return this.#acknowledgedAt[before] ?? 0
  }

  /**
   * Stops charging, refunds charges of unknown outcome and rolls everything up. Returns how many
   * more acknowledged charges the ledger lacks than the last time; below zero, how many it has too
   * many.
   */
  async settle(): Promise<number> {
    clearInterval(this.#timer)
    await Promise.all(this.#running)
    for (const { credits } of this.#processes) await credits.stop()
    for (const { ledger } of this.#processes) while ((await ledger.rollUp()) > 0);
    const [row] = await this.#store.query<{ used: string }>(
      `SELECT -sum(credits) AS used FROM ledger_entries FINAL
       WHERE cause = 'usage' AND wallet IN {accounts:Array(String)}`,
      { accounts: ACCOUNTS },
    )
    const lost = this.acknowledged - Number(row?.used ?? 0) - this.#lost
    this.#lost += lost
    return lost
  }

  /** How many figures differ between ledger and meter. */
  async mismatches(): Promise<number> {
    return (await this.#processes[0]?.ledger.check())?.mismatches.length ?? 0
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const { credits, meter } of this.#processes) {
      await credits.stop()
      await meter.close()
    }
  }

  #charge(): void {
    const account = ACCOUNTS[Math.floor(Math.random() * ACCOUNTS.length)] ?? ''
    const process = this.#processes[Math.floor(Math.random() * this.#processes.length)]
    const charge = process?.credits.charge(account, 1, randomUUID()).then(
      () => void this.#acknowledgedAt.push(performance.now()),
      () => {},
    )
    if (charge === undefined) return
    this.#running.add(charge)
    void charge.then(() => this.#running.delete(charge))
  }
}
