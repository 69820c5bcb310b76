import { address } from '../../domain/address.ts'
import { anchorSwaps, type EntryPoints, type Program } from '../program.ts'

const routes: EntryPoints = anchorSwaps(
  'route',
  'route_with_token_ledger',
  'exact_out_route',
  'shared_accounts_route',
  'shared_accounts_route_with_token_ledger',
  'shared_accounts_exact_out_route',
  'route_v2',
  'exact_out_route_v2',
  'shared_accounts_route_v2',
  'shared_accounts_exact_out_route_v2',
)

/**
 * Jupiter aggregator, v6 and v4. Not swaps: token ledgers, open orders, fees, program authorities.
 * Source: jup-ag/jupiter-cpi `idl.json` (v6); the `_v2` forms and v4's from the IDL accounts on chain as published by sevenlabs-hq/carbon
 * `decoders/jupiter-swap-decoder` at 9dc3c3a5 (2026-04-30).
 */
export const jupiter: readonly Program[] = [
  {
    name: 'jupiter',
    id: address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'),
    kind: 'router',
    isSwap: routes,
  },
  {
    name: 'jupiter',
    id: address('JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB'),
    kind: 'router',
    isSwap: routes,
  },
]
