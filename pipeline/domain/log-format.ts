/**
 * Newest version of the format of log entries; every version from 1 can be read. Raise it when
 * older readers would refuse or misread an entry, as with a new field (rule K3).
 */
export const FORMAT_VERSION = 3

/**
 * Versions that `KAFKA_LOG_FORMAT` may name, and its default (rule K20). A release that raises
 * `FORMAT_VERSION` leaves the default; the release after it raises both.
 */
export const WRITTEN_FORMATS = { oldest: 3, default: 3 } as const
