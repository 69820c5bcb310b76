import type { Logger } from './logger.ts'

/** Logs the beginning and the end of an outage, each once. */
export interface OutageLog {
  /** A call failed. Logs a warning if the one before it worked. */
  failed(fields?: Readonly<Record<string, unknown>>): void
  /** A call worked. Logs the recovery if the one before it failed. */
  worked(fields?: Readonly<Record<string, unknown>>): void
}

/** Makes a log of outages with the text of a warning, and of the line that ends it. */
export function createOutageLog(logger: Logger, lost: string, back: string): OutageLog {
  let isFailing = false
  return {
    failed(fields = {}) {
      if (!isFailing) logger.warn(fields, lost)
      isFailing = true
    },
    worked(fields = {}) {
      if (isFailing) logger.info(fields, back)
      isFailing = false
    },
  }
}
