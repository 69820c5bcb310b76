import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** Where the bridge forwards messages, or what is wrong with its environment. */
export type BridgeEnvironment =
  | { readonly kind: 'ok'; readonly url: URL; readonly apiKey: string }
  | { readonly kind: 'bad'; readonly faults: readonly string[] }

/** Reads the environment of the bridge. Faults do not repeat values. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): BridgeEnvironment {
  const { TRACKED_WALLETS_URL: address = '', TRACKED_WALLETS_API_KEY: apiKey = '' } = env
  const url = URL.canParse(address) ? new URL('/mcp', address) : null
  const isHttp = url !== null && /^https?:$/.test(url.protocol)
  const faults = [
    ...(isHttp
      ? []
      : ['TRACKED_WALLETS_URL: expected the address of the service, as https://host']),
    ...(/^[\x21-\x7e]+$/.test(apiKey)
      ? []
      : ['TRACKED_WALLETS_API_KEY: expected an API key, tw_...']),
  ]
  return url !== null && faults.length === 0 ? { kind: 'ok', url, apiKey } : { kind: 'bad', faults }
}

/** Returns the version that the answer to `initialize` agrees on; null for other messages. */
export function agreedVersion(message: JSONRPCMessage): string | null {
  if (!('result' in message)) return null
  const { protocolVersion } = message.result as { readonly protocolVersion?: unknown }
  return typeof protocolVersion === 'string' ? protocolVersion : null
}
