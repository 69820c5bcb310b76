import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import type { ContractTrade } from './customer.ts'

/**
 * A trade by the contract's section 2.2, without the fields that rule L3 adds. This second
 * implementation shows faults in the service's own.
 */
export function contractTrade(swap: Swap): ContractTrade {
  return {
    block_time: swap.blockTime,
    wallet: aliasOf(swap.wallet),
    side: swap.side,
    mint: swap.baseMint,
    token_amount: String(swap.baseAmount),
    decimals: swap.baseDecimals,
    sol_amount: swap.quoteMint === WSOL ? Number(swap.quoteAmount) / 1e9 : 0,
    quote_mint: swap.quoteMint,
    quote_amount: String(swap.quoteAmount),
    program: swap.program,
  }
}
