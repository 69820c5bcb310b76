import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** Connects the client of the SDK to `/mcp`, as an agent does, and reads the list of tools. */
export async function connectAgent(
  api: { readonly url: string },
  key: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), {
    requestInit: { headers: { ...headers, authorization: `Bearer ${key}` } },
  })
  // With exactOptionalPropertyTypes the SDK's own transport does not fit its interface.
  await client.connect(transport as never)
  const { tools } = await client.listTools()
  return {
    client,
    tools,
    /** Calls a tool. The client checks the result against the tool's output schema. */
    call: (name: string, given: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: given }) as Promise<CallToolResult>,
    close: () => client.close(),
  }
}

/** The JSON text of a result. */
export function textOf({ content: [first] }: CallToolResult): Record<string, unknown> {
  return first?.type === 'text' ? JSON.parse(first.text) : {}
}
