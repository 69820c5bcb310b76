import { address } from '../../domain/address.ts'
import { anchorSwaps, type EntryPoints, type Program } from '../program.ts'

const routes: EntryPoints = anchorSwaps(
  'swap',
  'swap2',
  'swap_v3',
  'proxy_swap',
  'from_swap_log',
  'commission_sol_swap',
  'commission_sol_swap2',
  'commission_sol_proxy_swap',
  'commission_sol_from_swap',
  'commission_spl_swap',
  'commission_spl_swap2',
  'commission_spl_proxy_swap',
  'commission_spl_from_swap',
  'platform_fee_sol_proxy_swap_v2',
  'platform_fee_spl_proxy_swap_v2',
  'swap_tob',
  'swap_tob_enhanced',
  'swap_tob_with_receiver',
  'swap_tob_v3',
  'swap_tob_v3_enhanced',
  'swap_tob_v3_with_receiver',
  'swap_toc',
  'swap_toc_v2',
)

/**
 * OKX DEX routers: the first and its successor. Commissions are part of the routes. Not swaps:
 * wrapping and unwrapping, claims, token accounts.
 *
 * Source: sevenlabs-hq/carbon `decoders/okx-dex-decoder`, `onchain-labs-dex-v1-decoder` and
 * `onchain-labs-dex-v2-decoder` at 9dc3c3a5 (2026-04-30), generated from IDLs on chain.
 */
export const okx: readonly Program[] = [
  {
    name: 'okx',
    id: address('6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma'),
    kind: 'router',
    isSwap: routes,
  },
  {
    name: 'okx',
    id: address('proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u'),
    kind: 'router',
    isSwap: routes,
  },
]
