import { FORMAT_VERSION } from '../domain/log-format.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { LogMetrics } from './telemetry.ts'

/** Where a reader stops: before the entry at `offset`, which has format version `version`. */
export interface FormatStop {
  readonly partition: number
  readonly offset: bigint
  readonly version: number
}

/**
 * The partitions that this process has stopped reading, because their next entry has a newer format
 * (rule K18). Only a newer version of the service can read on.
 */
export class StoppedPartitions {
  readonly #stops = new Map<object, Map<number, FormatStop>>()
  readonly #metrics: Pick<LogMetrics, 'stoppedPartitions'>

  constructor(metrics: Pick<LogMetrics, 'stoppedPartitions'>) {
    this.#metrics = metrics
  }

  /** Notes that `reader` stops. */
  add(reader: object, stop: FormatStop): void {
    const own = this.#stops.get(reader) ?? new Map<number, FormatStop>()
    this.#stops.set(reader, own.set(stop.partition, stop))
    this.#count()
  }

  /** Forgets the stops of `reader`: it has ended, or reads its partitions again. */
  release(reader: object): void {
    if (this.#stops.delete(reader)) this.#count()
  }

  /** Throws `newer_format`, naming a partition and its offset, while a reader stops. */
  check(): void {
    const [stop] = [...this.#stops.values()].flatMap((own) => [...own.values()])
    if (stop) throw newerFormat(stop)
  }

  #count(): void {
    const sizes = [...this.#stops.values()].map((own) => own.size)
    this.#metrics.stoppedPartitions.set(sizes.reduce((sum, size) => sum + size, 0))
  }
}

/** The error of a process that cannot read an entry, because a newer version wrote it. */
export function newerFormat({ partition, offset, version }: FormatStop): ServiceError {
  const entry = `partition ${partition} of the log has an entry of format ${version} at offset ${offset}`
  return new ServiceError(
    'newer_format',
    `${entry}; this version reads up to ${FORMAT_VERSION}: upgrade this process`,
  )
}
