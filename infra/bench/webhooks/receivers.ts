import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FromReceivers, ToReceivers, TradeArrival } from './protocol.ts'

/**
 * Receivers of webhooks, as a separate process: an HTTP server for each, on a port of its own, so
 * that each has connections of its own. They verify nothing, and answer at once or never.
 */
const held = new Set<number>()
const QUIET_MS = 15_000

let deliveries = 0
let arrivals: TradeArrival[] = []
let expected = Number.POSITIVE_INFINITY
let quiet: NodeJS.Timeout | undefined

process.on('message', async (message: ToReceivers) => {
  if (message.kind === 'listen') {
    const hooks = Array.from({ length: message.receivers }, (_, hook) => hook)
    tell({ kind: 'listening', ports: await Promise.all(hooks.map(listen)) })
  } else if (message.kind === 'hold') {
    for (const hook of message.hooks) held.add(hook)
    tell({ kind: 'holding' })
  } else {
    expected = message.trades
    quiet = setTimeout(report, QUIET_MS)
    check()
  }
})

function tell(message: FromReceivers): void {
  process.send?.(message)
}

async function listen(hook: number): Promise<number> {
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => null) // its sender has gone
    if (body !== null && !held.has(hook)) receive(hook, body, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // listening on TCP
}

function receive(hook: number, body: string, response: ServerResponse): void {
  const at = Number(process.hrtime.bigint() / 1000n)
  response.end()
  deliveries++
  for (const { data } of (JSON.parse(body) as Delivery).data.messages)
    arrivals.push([hook, data.block_time, at])
  quiet?.refresh()
  check()
}

function check(): void {
  if (arrivals.length >= expected) report()
}

function report(): void {
  clearTimeout(quiet)
  expected = Number.POSITIVE_INFINITY
  tell({ kind: 'received', deliveries, arrivals })
  deliveries = 0
  arrivals = []
}

/** What a receiver reads of a delivery (rule M1). Block times of the bench are slots. */
interface Delivery {
  readonly data: {
    readonly messages: readonly { readonly data: { readonly block_time: number } }[]
  }
}
