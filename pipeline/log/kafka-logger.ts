import type { Logger } from '../runtime/logger.ts'

/** What the Kafka client logs. */
interface ClientEntry {
  readonly namespace: string
  readonly level: number
  readonly log: { readonly message: string; readonly [extra: string]: unknown }
}

/** The client's level for errors; higher numbers are less severe. */
const CLIENT_ERROR = 1

/**
 * Brings the Kafka client's lines to our logger. The client calls every failed attempt an error, also those that it repairs by itself: they are
 * warnings here, and the same one at most once in `quietMs`; everything else is debug.
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
