import { address, addressBytes } from '../../domain/address.ts'
import { WSOL } from '../../domain/quote.ts'
import { readU32, readU64, sameBytes, startsWith } from '../bytes.ts'
import {
  ANCHOR_EVENT_CALL,
  anchorDiscriminator,
  anchorEvent,
  anchorSwaps,
  type DirectCredit,
  type Program,
  type ProgramCall,
  poolReader,
} from '../program.ts'

const SELL = anchorDiscriminator('sell')
const SELL_V2 = anchorDiscriminator('sell_v2')
const SELL_V3 = anchorDiscriminator('sell_v3')
const FIRST = [SELL, ...['buy', 'buy_exact_sol_in'].map(anchorDiscriminator)]
const SECOND = [SELL_V2, ...['buy_v2', 'buy_exact_quote_in_v2'].map(anchorDiscriminator)]
const THIRD = [SELL_V3, ...['buy_v3', 'buy_exact_quote_in_v3'].map(anchorDiscriminator)]

/**
 * pump.fun bonding curves. A buy pays by System transfers. A sell takes lamports from the curve and
 * credits the seller directly. The amount is read from the trade event that the program emits by
 * calling itself; the events of early versions have no fee fields.
 *
 * Source: pump-fun/pump-public-docs `idl/pump.json` at 1b82215 (2026-05-19). The third generation,
 * whose fees stay on the curve: `docs/instructions/TRADE_V3.md` at 2293f9a. That the buyback fee is
 * part of `fee` was checked on mainnet sells of slot 432104870.
 */
export const pumpfun: Program = {
  name: 'pumpfun',
  id: address('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'),
  kind: 'venue',
  isSwap: anchorSwaps(
    'buy',
    'sell',
    'buy_exact_sol_in',
    'buy_v2',
    'sell_v2',
    'buy_exact_quote_in_v2',
    'buy_v3',
    'sell_v3',
    'buy_exact_quote_in_v3',
  ),
  readCredit,
  // The curve and its accounts of both coins, by generation. The curve of the first holds the SOL
  // itself.
  poolOf: poolReader([
    { prefixes: FIRST, pool: 3, vaults: [4] },
    { prefixes: SECOND, pool: 10, vaults: [11, 12] },
    { prefixes: THIRD, pool: 5, vaults: [6, 7] },
  ]),
}

const TRADE_EVENT = Buffer.concat([ANCHOR_EVENT_CALL, anchorEvent('TradeEvent')])
const WSOL_KEY = addressBytes(WSOL)

function readCredit(call: ProgramCall): DirectCredit | null {
  const { data, accounts } = call.instructions[call.at]!
  let source: number | undefined
  let destination: number | undefined
  if (startsWith(data, SELL)) {
    // global, fee_recipient, mint, bonding_curve, associated_bonding_curve, associated_user, user,
    // ...
    //
    source = accounts[3]
    destination = accounts[6]
  } else if (startsWith(data, SELL_V2) || startsWith(data, SELL_V3)) {
    // global, base_mint, quote_mint, ... @10 bonding_curve, ... @13 user. In the third generation:
    // @5 and @8. Curves with other quotes pay by token transfer.
    const quote = call.accountKeys[accounts[2] ?? 0]
    if (quote === undefined || !sameBytes(quote, WSOL_KEY)) return null
    const second = startsWith(data, SELL_V2)
    source = accounts[second ? 10 : 5]
    destination = accounts[second ? 13 : 8]
  }
  if (source === undefined || destination === undefined) return null
  const event = findTradeEvent(call)
  // Without an event, a sell is weighted by what it sold: argument `amount` u64 @8 of all forms.
  if (event === null) return { source, destination, lamports: null, weight: readU64(data, 8) }
  return { source, destination, lamports: proceeds(event), weight: readU64(event, SOL_AMOUNT) }
}

function findTradeEvent({ instructions, at, end }: ProgramCall): Uint8Array | null {
  const { programIndex } = instructions[at]!
  for (let i = at + 1; i < end; i++) {
    const inner = instructions[i]!
    if (inner.programIndex === programIndex && startsWith(inner.data, TRADE_EVENT)) {
      return inner.data.length >= WITHOUT_FEES ? inner.data : null
    }
  }
  return null
}

/**
 * Layout of TradeEvent. Offsets count from the start of the data, whose first 16 bytes announce the
 * event:
 *
 *    16 mint 32 bytes
 *    48 sol_amount u64
 *    56 token_amount u64
 *    64 is_buy u8
 *    65 user 32 bytes
 *    97 timestamp i64
 *   105 four reserves u64
 *   137 fee_recipient 32 bytes
 *   169 fee_basis_points u64
 *   177 fee u64
 *   185 creator 32 bytes
 *   217 creator_fee_basis_points u64
 *   225 creator_fee u64
 *   233 track_volume u8
 *   234 three u64
 *   258 timestamp i64
 *   266 ix_name: length u32 and text; then mayhem_mode u8, cashback_fee_basis_points u64,
 *       cashback u64, ...
 */
const SOL_AMOUNT = 48
const WITHOUT_FEES = 121 // events of the first generation end after two reserves
const FEE = 177
const CREATOR_FEE = 225
const FEES_END = 233
const IX_NAME = 266

/**
 * Lamports that the seller received: the curve's price less fees. Null for events without fee
 * fields.
 */
function proceeds(event: Uint8Array): bigint | null {
  if (event.length < FEES_END) return null
  const net =
    readU64(event, SOL_AMOUNT) - readU64(event, FEE) - readU64(event, CREATOR_FEE) - cashback(event)
  return net < 0n ? null : net
}

function cashback(event: Uint8Array): bigint {
  if (event.length < IX_NAME + 4) return 0n
  const at = IX_NAME + 4 + readU32(event, IX_NAME) + 1 + 8
  return event.length >= at + 8 ? readU64(event, at) : 0n
}
