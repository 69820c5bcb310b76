import type { SimulatedChain } from '../chain.ts'
import { accountMethods } from './account-methods.ts'
import { blockMethods } from './block-methods.ts'
import { createLedgerView, type RpcWindow } from './ledger-view.ts'
import type { RpcMethods } from './parameters.ts'
import { transactionMethods } from './transaction-methods.ts'

/**
 * Solana's RPC methods over a chain; parameters, results and errors as agave's RPC has them.
 * Encodings are `json`, `base64` and `base58`, and `jsonParsed` for token accounts alone.
 * `tellsIndex`: `getTransaction` answers `transactionIndex`, as nodes of 2026 do.
 */
export function createRpcMethods(
  chain: SimulatedChain,
  window: RpcWindow,
  { tellsIndex = false }: { readonly tellsIndex?: boolean } = {},
): RpcMethods {
  const view = createLedgerView(chain, window)
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'feature-set': 3_640_012_085, 'solana-core': '2.3.0' }),
    ...blockMethods(view),
    ...transactionMethods(view, tellsIndex),
    ...accountMethods(view),
  }
}
