import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as OTLP/HTTP carries it, its attributes as a record. */
export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A collector of traces that keeps all that it gets. */
export interface OtlpReceiver {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  readonly bodies: readonly string[]
  readonly spans: readonly ReceivedSpan[]
  /** Resolves when `satisfies` holds for the spans so far. */
  until(satisfies: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>
  close(): Promise<void>
}

/** Starts a collector; the default port is any free one. */
export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const bodies: string[] = []
  const spans: ReceivedSpan[] = []
  const received = new EventEmitter()
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/v1/traces')
      return void response.writeHead(404).end()
    const body = await text(request)
    bodies.push(body)
    spans.push(...spansOf(body))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    received.emit('spans')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on TCP
    bodies,
    spans,
    async until(satisfies) {
      while (!satisfies(spans)) await once(received, 'spans')
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
  }[]
}

type RawSpan = Omit<ReceivedSpan, 'attributes'> & {
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: number }
  }[]
}

function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Request // an ExportTraceServiceRequest
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries(
        span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
      ),
    }))
}
