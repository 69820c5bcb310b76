import { address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { withValue } from '../../pipeline/domain/swap-value.ts'

/** A swap of wallet 1 in slot 100, with the given fields. */
export function aSwap(fields: Partial<Swap> = {}): Swap {
  return {
    kind: 'swap',
    slot: 100,
    txIndex: 0,
    wallet: 1,
    eventIndex: 0,
    blockTime: 1_790_000_000,
    signature: '5'.repeat(88),
    side: 'buy',
    baseMint: BONK,
    baseAmount: 123_456_789n,
    baseDecimals: 6,
    quoteMint: WSOL,
    quoteAmount: 1_500_000_000n,
    program: 'pumpswap',
    programId: address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'),
    pool: null,
    confidence: 'high',
    quoteMismatch: false,
    feeLamports: 0n,
    solPriceUsdE9: null,
    ...fields,
  }
}

/** A swap as customers see it without `PRIVACY_SALT`. */
export const served = (swap: Swap) => serveSwap(withValue(swap), null)

export const BONK = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
export const JUP = address('JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN')
