import type { EventLog } from '../../pipeline/log/log.ts'
import { createSlotTraces } from '../../pipeline/runtime/slot-traces.ts'
import type { AddSpan } from '../../pipeline/runtime/span.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'

/** Traces of this process (rule K22). */
export interface Traces extends ServicePart {
  readonly add: AddSpan
  /** Traces slots from now on. Called at the end of a start, so that the log's past is left out. */
  follow(log: Pick<EventLog, 'epoch'>): void
}

/** Opens the export of traces to a collector. Its packages are loaded only here. */
export async function openTraces(context: ServiceContext, endpoint: URL): Promise<Traces> {
  const { config, logger } = context
  const { openSpanExport } = await import('../../pipeline/runtime/span-export.ts')
  const { add, close } = openSpanExport(endpoint, { logger, roles: [...config.roles].join(',') })
  const prefix = config.log.kind === 'kafka' ? config.log.topicPrefix : ''
  return {
    add,
    close,
    follow: ({ epoch }) => context.observeStages(createSlotTraces(add, `${prefix}/${epoch}`)),
  }
}
