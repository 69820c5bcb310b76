/** How many partitions the topic of wallet events has: the most consumers that can share the work. Fixed for the life of a topic. */
export const PARTITIONS = 6

/** A topic with the settings it is made with. */
export interface Topic {
  readonly name: string
  readonly partitions: number
  readonly settings: Readonly<Record<string, string>>
}

/**
 * The one topic: what tracked wallets did, keyed by alias, and a marker of every sealed slot on
 * every partition (rule K3).
 */
export function walletEventsTopic(prefix: string, partitions = PARTITIONS): Topic {
  return {
    name: `${prefix}wallet-events`,
    partitions,
    settings: {
      'cleanup.policy': 'delete',
      // Storage keeps events for good; the log has to outlast a long stop of the workers.
      'retention.ms': String(7 * 24 * 3600 * 1000),
      'segment.bytes': String(128 * 1024 * 1024),
      'message.timestamp.type': 'CreateTime',
    },
  }
}

/** The partition of a wallet's records, the same in every process: numbers are dense, so wallets spread evenly. */
export function partitionOf(wallet: number, partitions: number): number {
  return (wallet - 1) % partitions
}
