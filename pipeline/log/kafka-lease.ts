import { ServiceError } from '../domain/service-error.ts'
import { pause } from '../runtime/pause.ts'
import type { PartitionLease } from './log.ts'
import { type Claim, NO_CLAIM } from './sticky-assignment.ts'

/** Times of a group in milliseconds, as its consumer has told them to the broker. */
export interface GroupTimes {
  /** The broker evicts a member that it has not heard of for this long. */
  readonly sessionMs: number
  /** While the group rebalances, members have this long to join again. */
  readonly rebalanceMs: number
}

/** Who sent a heartbeat: a member, in a generation of the group. */
export interface HeartbeatSender {
  readonly memberId: string
  readonly groupGenerationId: number
}

/**
 * The partitions that a Kafka group has assigned to a consumer (rule K15). The broker can give them
 * to another one only when this one was silent for a whole session, or has not joined a rebalance
 * in time. So half a session from the sending of an answered heartbeat is safe. All times are
 * `performance.now()`.
 */
export class GroupLease implements PartitionLease {
  readonly partitions: readonly number[]
  readonly #times: GroupTimes
  #sender: HeartbeatSender | null = null
  /** When the newest request was sent that the broker answered as to a member. */
  #heardAt: number
  /** The same, of requests before the group began to rebalance. */
  #confirmedAt: number
  #hasEnded = false
  /** Whether the group rebalances. Heartbeats do not tell the generation any more. */
  #isRebalancing = false
  #waiting: (() => void)[] = []

  /** `joinedAt`: when the request was sent that the assignment answers. */
  constructor(partitions: readonly number[], joinedAt: number, times: GroupTimes) {
    this.partitions = partitions
    this.#heardAt = joinedAt
    this.#confirmedAt = joinedAt
    this.#times = times
  }

  /** The member and generation that have the partitions; null before the first heartbeat. */
  get sender(): HeartbeatSender | null {
    return this.#sender
  }

  /** What the consumer says that it has when it joins the group again. */
  get claim(): Claim {
    if (this.#hasEnded) return NO_CLAIM
    return { generation: this.#sender?.groupGenerationId ?? 0, partitions: this.partitions }
  }

  async generation(): Promise<number> {
    while (this.#sender === null && !this.#isRebalancing && !this.#isOver()) await this.#change()
    if (this.#sender === null) throw fenced()
    return this.#sender.groupGenerationId
  }

  async confirm(stop: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#isOver()) throw fenced()
      if (performance.now() - this.#heardAt < this.#times.sessionMs / 2) return
      if (stop.aborted) throw new ServiceError('closed', 'stopped while waiting for the group')
      stop.addEventListener('abort', this.#notify)
      await this.#change()
      stop.removeEventListener('abort', this.#notify)
    }
  }

  /** Notes that the broker has confirmed a heartbeat. */
  confirmed(sender: HeartbeatSender, sentAt: number): void {
    this.#sender ??= sender
    this.#heardAt = sentAt
    this.#confirmedAt = sentAt
    this.#notify()
  }

  /**
   * Notes that the broker answered a heartbeat with a rebalance: the partitions stay until every
   * member has joined again, or the time for that is over.
   */
  rebalances(sentAt: number): void {
    this.#isRebalancing = true
    this.#heardAt = sentAt
    this.#notify()
  }

  /** Notes that the consumer has lost the partitions, or has joined the group again. */
  end(): void {
    this.#hasEnded = true
    this.#notify()
  }

  /** Whether the partitions may have another owner. */
  #isOver(): boolean {
    return this.#hasEnded || this.#left() <= 0
  }

  /** Milliseconds until a group that rebalances may leave this member out. */
  #left(): number {
    const { sessionMs, rebalanceMs } = this.#times
    return this.#confirmedAt + rebalanceMs - sessionMs / 2 - performance.now()
  }

  /**
   * Resolves with the next change, or when the time is over. Without an answer there is none: the
   * client only asks for another coordinator once the handlers of its batches have ended.
   */
  async #change(): Promise<void> {
    const changed = new AbortController()
    this.#waiting.push(() => changed.abort())
    await pause(this.#left(), changed.signal)
  }

  readonly #notify = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

function fenced(): ServiceError {
  return new ServiceError('fenced', 'the group has assigned the partitions again')
}
