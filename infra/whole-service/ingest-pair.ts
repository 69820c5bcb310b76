import type { Simulator } from '../simulator/simulator.ts'
import { until } from './customer.ts'
import { type Deployment, deploy } from './deployment.ts'
import { LogAudit } from './log-audit.ts'
import { logged, type ServiceProcess } from './service-process.ts'

const SIGNALS = { kill: 'SIGKILL', stop: 'SIGTERM', suspend: 'SIGSTOP' } as const

/** How the leader is lost. */
export type Loss = keyof typeof SIGNALS

/** Two processes with role ingest on one chain, of which one leads (rule K14). */
export class IngestPair {
  readonly audit: LogAudit
  readonly #deployment: Deployment
  #leader: ServiceProcess
  #standby: ServiceProcess

  private constructor(
    deployment: Deployment,
    audit: LogAudit,
    leader: ServiceProcess,
    standby: ServiceProcess,
  ) {
    this.#deployment = deployment
    this.audit = audit
    this.#leader = leader
    this.#standby = standby
  }

  /** Starts both. The first one leads. */
  static async start(simulator: Simulator): Promise<IngestPair> {
    const deployment = await deploy('servers', simulator.wallets, {
      INGEST_FAILOVER: 'true',
      YELLOWSTONE_ENDPOINT: simulator.endpoint,
      SOLANA_RPC_URL: simulator.rpcUrl,
      SOL_PRICE_POOL: simulator.solPricePool,
    })
    try {
      const { KAFKA_BROKERS = '', KAFKA_TOPIC_PREFIX = '' } = deployment.env
      const audit = await LogAudit.open(KAFKA_BROKERS, KAFKA_TOPIC_PREFIX)
      const leader = deployment.start('ingest')
      await logged(leader, 'takes over')
      const standby = deployment.start('ingest')
      await logged(standby, 'stands by')
      return new IngestPair(deployment, audit, leader, standby)
    } catch (error) {
      await deployment.remove()
      throw error
    }
  }

  /** Resolves when the log has `slots` more. */
  async pass(slots: number): Promise<void> {
    const { arrivals } = this.audit
    const enough = arrivals.length + slots
    await until(
      async () => arrivals.length,
      (count) => count >= enough,
    )
  }

  /**
   * Takes the leader away, and returns how long the log got no slot, in milliseconds, and how the
   * former leader ended. A suspended leader goes on once the other one has taken over. Then starts
   * another standby.
   */
  async lose(how: Loss): Promise<{ gapMs: number; exit: number | string; said: string }> {
    const { arrivals } = this.audit
    const former = this.#leader
    const first = arrivals.length - 1
    former.child.kill(SIGNALS[how])
    await logged(this.#standby, 'takes over')
    await this.pass(3)
    if (how === 'suspend') former.child.kill('SIGCONT')
    const exit = await former.ended
    this.#leader = this.#standby
    this.#standby = this.#deployment.start('ingest')
    await logged(this.#standby, 'stands by')
    const times = arrivals.slice(first).map(({ at }) => at)
    const gapMs = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
    return { gapMs, exit, said: former.stderr().trimEnd().split('\n').at(-1) ?? '' }
  }

  async remove(): Promise<void> {
    await this.audit.close()
    await this.#deployment.remove()
  }
}
