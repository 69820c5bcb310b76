import { setTimeout as delay } from 'node:timers/promises'
import type { SentinelUrl } from '../../api/redis-url.ts'
import { askPort } from './redis.ts'
import { type ServerStatus, serversStatus } from './servers.ts'

/** The Sentinels of a cluster (infra/servers), and the processes of its Redis servers. */
export class RedisSentinel {
  readonly #data: string
  readonly #url: SentinelUrl

  constructor(data: string, url: SentinelUrl) {
    this.#data = data
    this.#url = url
  }

  /** Returns the node that is the master. */
  async master(): Promise<ServerStatus> {
    const answer = await this.#ask(`SENTINEL GET-MASTER-ADDR-BY-NAME ${this.#url.masterName}`)
    const port = Number(/^([0-9]+)\r\n\+PONG/m.exec(answer)?.[1])
    const nodes = await serversStatus(this.#data, { only: 'redis' })
    const master = nodes.find(({ ports }) => ports.port === port)
    if (master === undefined) throw new Error(`no node at port ${port}: ${answer}`)
    return master
  }

  /** Resolves once another node than `former` is the master. */
  async masterOtherThan(former: ServerStatus): Promise<void> {
    while ((await this.master()).name === former.name) await delay(20)
  }

  /** Asks for another master, until there is a replica to promote. */
  async failOver(): Promise<void> {
    while (!(await this.#ask(`SENTINEL FAILOVER ${this.#url.masterName}`)).startsWith('+OK\r\n+OK'))
      await delay(100)
  }

  #ask(command: string): Promise<string> {
    const { sentinels, sentinelPassword } = this.#url
    const login = `AUTH ${sentinelPassword}\r\n`
    return askPort(sentinels[0]?.port ?? 0, `${login}${command}\r\nPING\r\n`, '+PONG\r\n')
  }
}
