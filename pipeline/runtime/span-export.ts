import { type HrTime, type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from './logger.ts'
import { createOutageLog } from './outage-log.ts'
import type { AddSpan, Span } from './span.ts'
import { VERSION } from './version.ts'

/** Sends spans to a collector. */
export interface SpanExport {
  readonly add: AddSpan
  /** Sends what waits, for at most `TIMEOUT_MS`, and drops the rest. */
  close(): Promise<void>
}

/** How long a batch may take, with its repetitions. */
const TIMEOUT_MS = 2000

/**
 * Sends spans to an OTLP/HTTP collector, as JSON, once a second or once 512 wait. At most 2048
 * wait: while the collector is away or slow, further ones are dropped. The log says once that it is
 * away and once that it is back. `endpoint` is `OTEL_EXPORTER_OTLP_ENDPOINT`, to which `v1/traces`
 * is added as the OTLP specification says. Only `import()` may load this file: its packages cost
 * memory and time.
 */
export function openSpanExport(
  endpoint: URL,
  { logger, roles }: { readonly logger: Logger; readonly roles: string },
): SpanExport {
  const url = `${endpoint.href.replace(/\/*$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT_MS })
  const processor = new BatchSpanProcessor({
    exporter: loggingOutages(exporter, logger),
    maxQueueSize: 2048,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 1000,
    exportTimeoutMillis: 2 * TIMEOUT_MS,
  })
  const resource = resourceFromAttributes({
    'service.name': 'tracked-wallets',
    'service.version': VERSION,
    'service.instance.id': String(process.pid),
    'tracked_wallets.roles': roles,
  }).merge(detectResources({ detectors: [envDetector] }))
  return {
    add: (span) => processor.onEnd(readable(span, resource)),
    close: () => processor.shutdown().catch(() => {}), // the log has the outage
  }
}

function loggingOutages(exporter: SpanExporter, logger: Logger): SpanExporter {
  const outage = createOutageLog(
    logger,
    'the collector of traces takes no spans; they are dropped',
    'the collector of traces takes spans again',
  )
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result
        if (error === undefined) outage.worked()
        // Messages may quote the collector's answer.
        else outage.failed({ reason: (error as { code?: unknown }).code ?? error.name })
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} satisfies Record<Span['kind'], SpanKind>

function readable(span: Span, resource: Resource): ReadableSpan {
  const { name, kind, traceId, spanId, parentId, startMs, endMs, attributes, failed } = span
  const context = contextOf(traceId, spanId)
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => context,
    ...(parentId !== null && { parentSpanContext: contextOf(traceId, parentId) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'tracked-wallets', version: VERSION },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const SAMPLED = 1

function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED }
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1000) * 1_000_000))]
}
