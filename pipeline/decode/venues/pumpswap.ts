import { address, addressBytes } from '../../domain/address.ts'
import { WSOL } from '../../domain/quote.ts'
import type { Instruction } from '../../domain/transaction.ts'
import { sameBytes, startsWith } from '../bytes.ts'
import {
  anchorDiscriminator,
  anchorSwaps,
  type DirectCredit,
  type PoolReader,
  type Program,
  type ProgramCall,
} from '../program.ts'

/**
 * PumpSwap, the pools to which pump.fun curves migrate. Everything moves by token transfers,
 * including fees. The side of a `buy` or `sell` depends on the pool: where its base is WSOL, a
 * `sell` buys the other coin. `multi_hop_swap` goes through several pools and bonding curves. A
 * route that ends on a curve with SOL as its quote credits the seller directly.
 *
 * Source: pump-fun/pump-public-docs `idl/pump_amm.json` at 1b82215 (2026-05-19). The second
 * generation and routes: `docs/instructions/PUMP_SWAP_TRADE_V2.md` and `MULTI_HOP_SWAP.md` at
 * 2293f9a.
 */
export const pumpswap: Program = {
  name: 'pumpswap',
  id: address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'),
  kind: 'venue',
  isSwap: anchorSwaps(
    'buy',
    'sell',
    'buy_exact_quote_in',
    'buy_v2',
    'sell_v2',
    'buy_exact_quote_in_v2',
    'multi_hop_swap',
  ),
  readCredit,
  poolOf: (instruction, move) =>
    isRoute(instruction) ? poolOfHop(instruction, move) : poolOfTrade(instruction, move),
}

const MULTI_HOP = anchorDiscriminator('multi_hop_swap')
const isRoute = ({ data }: Instruction) => startsWith(data, MULTI_HOP)

/**
 * Accounts, both generations: 0 pool, ..., 7 pool_base_token_account, 8 pool_quote_token_account.
 */
const poolOfTrade: PoolReader = ({ accounts }, { source, destination }) => {
  for (const vault of [accounts[7], accounts[8]])
    if (vault !== undefined && (vault === source || vault === destination))
      return accounts[0] ?? null
  return null
}

/**
 * Accounts of a route: 0 user, ..., then from 16 on five per hop: base_mint, quote_mint, pool or
 * curve, base vault, quote vault.
 */
const FIRST_HOP = 16
const PER_HOP = 5

const poolOfHop: PoolReader = ({ accounts }, { source, destination }) => {
  for (let hop = FIRST_HOP; hop + PER_HOP <= accounts.length; hop += PER_HOP)
    for (const vault of [accounts[hop + 3]!, accounts[hop + 4]!])
      if (vault === source || vault === destination) return accounts[hop + 2]!
  return null
}

const WSOL_KEY = addressBytes(WSOL)

/**
 * The lamports that a route pays are read from the balance. They are zero if its last hop is a
 * pool.
 */
function readCredit({ instructions, at, accountKeys }: ProgramCall): DirectCredit | null {
  const { data, accounts } = instructions[at]!
  if (!startsWith(data, MULTI_HOP)) return null
  const hop = accounts.length - PER_HOP
  if (hop < FIRST_HOP) return null
  const quote = accountKeys[accounts[hop + 1]!]
  if (quote === undefined || !sameBytes(quote, WSOL_KEY)) return null
  return { source: accounts[hop + 2]!, destination: accounts[0]!, lamports: null, weight: 1n }
}
