/**
 * Partitions of the topic: the most consumers that can share the work. Fixed for the life of a
 * topic.
 */
export const PARTITIONS = 6

/** A topic and the settings it is created with. */
export interface Topic {
  readonly name: string
  readonly partitions: number
  readonly settings: Readonly<Record<string, string>>
}

/**
 * Returns the only topic: events of tracked wallets, keyed by alias, and the marker of every sealed
 * slot on every partition (rule K3).
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

/**
 * Returns the partition of a wallet, equal in every process. Wallet numbers are dense, so wallets
 * spread evenly.
 */
export function partitionOf(wallet: number, partitions: number): number {
  return (wallet - 1) % partitions
}
