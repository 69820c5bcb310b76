import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * PumpSwap, the pool to which pump.fun curves migrate. Everything moves by token transfers, fees too. Which side a `buy` or `sell` is depends on
 * the pool: where its base is WSOL, a `sell` buys the other coin.
 * Source: pump-fun/pump-public-docs `idl/pump_amm.json` at 1b82215 (2026-05-19).
 */
export const pumpswap: Program = {
  name: 'pumpswap',
  id: address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'),
  kind: 'venue',
  isSwap: anchorSwaps('buy', 'sell', 'buy_exact_quote_in'),
}
