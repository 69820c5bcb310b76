import type { Logger } from '../runtime/logger.ts'

/** An entry of the Kafka client's log. */
interface ClientEntry {
  readonly namespace: string
  readonly level: number
  readonly log: { readonly message: string; readonly [extra: string]: unknown }
}

/** The client's level for errors; higher numbers are less severe. */
const CLIENT_ERROR = 1

/**
 * Sends the log of the Kafka client to our logger. The client logs every failed attempt as an
 * error, also those that it retries. Here they are warnings, each at most once in `quietMs`;
 * everything else is debug.
 */
export function createKafkaLogger(logger: Logger, quietMs = 30_000, now = Date.now) {
  const lastSaid = new Map<string, number>()
  return () => (entry: ClientEntry) => {
    const { namespace, level } = entry
    const { message, broker, error, groupId } = entry.log
    const fields = { from: namespace || 'kafka', message, broker, reason: error, group: groupId }
    if (level > CLIENT_ERROR) return logger.debug(fields, 'kafka client')
    const kind = `${namespace}/${message}`
    if (now() - (lastSaid.get(kind) ?? -quietMs) < quietMs)
      return logger.debug(fields, 'kafka client')
    if (lastSaid.size > 1000) lastSaid.clear()
    lastSaid.set(kind, now())
    logger.warn(fields, 'kafka client')
  }
}
