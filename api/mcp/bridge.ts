#!/usr/bin/env node
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { agreedVersion, readEnvironment } from './bridge-messages.ts'

/*
 * The program `tracked-wallets-mcp`: a server of MCP over stdio for hosts that cannot send an API
 * key over HTTP. It forwards each message to `/mcp` of `TRACKED_WALLETS_URL`, with the key in
 * `TRACKED_WALLETS_API_KEY`, and keeps nothing. Faults go to stderr, without the key.
 */

const environment = readEnvironment(process.env)
if (environment.kind === 'bad') {
  process.stderr.write(`${environment.faults.join('\n')}\n`)
  process.exit(1)
}

const stdio = new StdioServerTransport()
const service = new StreamableHTTPClientTransport(environment.url, {
  requestInit: { headers: { authorization: `Bearer ${environment.apiKey}` } },
})
service.onmessage = (message) => {
  const version = agreedVersion(message)
  if (version !== null) service.setProtocolVersion(version)
  void stdio.send(message)
}
stdio.onmessage = (message) => {
  service.send(message).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`)
    if ('method' in message && 'id' in message)
      void stdio.send({
        jsonrpc: '2.0',
        id: message.id,
        error: { code: -32_000, message: error.message },
      })
  })
}
stdio.onclose = () => process.exit(0)
process.stdin.on('end', () => void stdio.close())
await service.start()
await stdio.start()
