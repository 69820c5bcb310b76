import type { SimulatedChain } from '../chain.ts'
import { accountMethods } from './account-methods.ts'
import { blockMethods } from './block-methods.ts'
import { LedgerView, type RpcWindow } from './ledger-view.ts'
import type { RpcMethods } from './parameters.ts'
import { transactionMethods } from './transaction-methods.ts'

/**
 * Solana's RPC methods over a chain; parameters, results and errors as agave's RPC has them.
 * Transactions have encoding `json` alone, accounts `base64`.
 * `tellsIndex`: `getTransaction` answers `transactionIndex`, as nodes of 2026 do.
 */
export function createRpcMethods(
  chain: SimulatedChain,
  window: RpcWindow,
  { tellsIndex = false }: { readonly tellsIndex?: boolean } = {},
): RpcMethods {
  const view = new LedgerView(chain, window)
  return {
    getHealth: () => 'ok',
    ...blockMethods(view),
    ...transactionMethods(view, tellsIndex),
    ...accountMethods(view),
  }
}
