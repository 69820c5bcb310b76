/** Partitions of a new topic: the most consumers that can share the work (rule K21). */
export const PARTITIONS = 24
/** The most partitions of a topic. Positions of the feed have an offset of each. */
export const MAX_PARTITIONS = 256
/** Partitions of a log in memory, which has one consumer of each group. */
export const MEMORY_PARTITIONS = 6

/** A topic and the settings it is created with. */
export interface Topic {
  readonly name: string
  readonly partitions: number
  readonly settings: Readonly<Record<string, string>>
}

/**
 * Returns the topic of events: events of tracked wallets, keyed by alias, and the marker of every
 * sealed slot on every partition (rule K3).
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
      // The clock of a producer may be wrong: brokers refuse entries from more than an hour ahead.
      'message.timestamp.type': 'LogAppendTime',
    },
  }
}

/**
 * Returns the topic of states (rule K26). It has the partitions of the events.
 */
export function walletStateTopic(prefix: string, partitions: number): Topic {
  return {
    name: `${prefix}wallet-state`,
    partitions,
    settings: {
      'cleanup.policy': 'delete',
      // The tables have everything. A reader that is behind for longer reads them again.
      'retention.ms': String(24 * 3600 * 1000),
      'segment.bytes': String(128 * 1024 * 1024),
      'message.timestamp.type': 'LogAppendTime',
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
