import { byteWriter } from '../byte-writer.ts'
import { associatedTokenAccount, derivedKey, type Key, wellKnown } from '../key.ts'
import { transferSol, transferTokenChecked } from '../native.ts'
import { SYSTEM } from '../programs.ts'
import {
  type AccountMeta,
  type LookupTable,
  readonly,
  type TransactionBuilder,
  writable,
  writableSigner,
} from '../transaction-builder.ts'
import { type Coin, priceAt } from '../universe.ts'
import { feeOf, type PlannedSwap, type PoolBalances, type SwapOrder, type Venue } from './pool.ts'

/** pump.fun's bonding curve. */
export const PUMPFUN_PROGRAM = wellKnown('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P')
const GLOBAL = wellKnown('4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf')
const EVENT_AUTHORITY = wellKnown('Ce6TQqeHC9p8KetsN6JsjHK7UTZk7nasjjnr7XxXp9F1')
const GLOBAL_VOLUME = wellKnown('Hq2wp8uJ9jCPsYgNHex8RtqdvMPfVGoYwjvF1ATiwn2Y')
const FEE_CONFIG = wellKnown('8Wf5TiAheLUqBrKXeYg2JtAFFMWtKdG2BSFgqUcPVwTt')
/** pump's fee program. */
export const FEE_PROGRAM = wellKnown('pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ')
const FEE_RECIPIENT = wellKnown('G5UZAVbAf46s7cKWoyKu8kYTip9DGTpbLZ2qa9Aq69dP')
const BUYBACK_RECIPIENT = wellKnown('5YxQFdt3Tr9zJLvkFccqXVUwhdTWJQc1fFg2YPbxvxeD')

const TABLE = derivedKey(0, 'table/pumpfun')

const PROTOCOL_BPS = 95n
const CREATOR_BPS = 30n
const INITIAL_VIRTUAL_SOL = 30_000_000_000n
const INITIAL_VIRTUAL_TOKENS = 1_073_000_000_000_000n
/** Tokens of the curve that are not for sale. */
const RESERVED_TOKENS = 279_900_000_000_000n
const CURVE_RENT = 1_726_080n
const TOO_MUCH_SOL_REQUIRED = 6_002
const TOO_LITTLE_SOL_RECEIVED = 6_003

/**
 * pump.fun's bonding curve as of 2026: `buy` (18 accounts), `sell` (16 accounts), fees from the fee
 * program, and a `TradeEvent` that is logged and emitted by a self-call. A buy pays by System
 * transfers; a sell credits the seller's lamports directly. Layouts: the program's IDL and mainnet.
 */
export const pumpfunVenue: Venue = {
  accounts(coin) {
    const curve = curveOf(coin)
    const vault = associatedTokenAccount(curve, coin.mint.key, coin.mint.program)
    const fixed = (key: Key, lamports: bigint): PoolBalances => ({
      key,
      lamports: () => lamports,
      token: () => null,
    })
    return [
      {
        key: curve,
        lamports: (slot) => curveAt(coin, slot).realSol + CURVE_RENT,
        token: () => null,
      },
      {
        key: vault,
        lamports: () => 2_074_080n,
        token: (slot) => ({
          mint: coin.mint,
          owner: curve,
          amount: curveAt(coin, slot).virtualTokens - 73_000_000_000_000n,
        }),
      },
      fixed(creatorVault(coin), 59_947_142n),
      fixed(FEE_RECIPIENT, 6_382_853_541_818n),
      fixed(BUYBACK_RECIPIENT, 1_729_243_489n),
    ]
  },

  table: (coin): LookupTable => ({
    key: TABLE,
    entries: [
      GLOBAL,
      EVENT_AUTHORITY,
      GLOBAL_VOLUME,
      FEE_CONFIG,
      FEE_PROGRAM,
      FEE_RECIPIENT,
      BUYBACK_RECIPIENT,
      coin.mint.program,
      SYSTEM,
    ],
  }),

  plan: (order) => (order.side === 'buy' ? buy(order) : sell(order)),
}

function buy(order: SwapOrder): PlannedSwap {
  const { coin, trader } = order
  const curve = curveAt(coin, order.slot)
  const sol = (order.amount * 10_000n) / (10_000n + PROTOCOL_BPS + CREATOR_BPS) - 2n
  const product = curve.virtualSol * curve.virtualTokens
  const tokens = curve.virtualTokens - product / (curve.virtualSol + sol) - 1n
  const fee = feeOf(sol, PROTOCOL_BPS)
  const creatorFee = feeOf(sol, CREATOR_BPS)
  const after = {
    virtualSol: curve.virtualSol + sol,
    virtualTokens: curve.virtualTokens - tokens,
    realSol: curve.realSol + sol,
    realTokens: curve.realTokens - tokens,
  }
  const vault = associatedTokenAccount(curveOf(coin), coin.mint.key, coin.mint.program)
  const accounts: AccountMeta[] = [
    readonly(GLOBAL),
    writable(FEE_RECIPIENT),
    readonly(coin.mint.key),
    writable(curveOf(coin)),
    writable(vault),
    writable(order.base),
    writableSigner(trader),
    readonly(SYSTEM),
    readonly(coin.mint.program),
    writable(creatorVault(coin)),
    readonly(EVENT_AUTHORITY),
    readonly(PUMPFUN_PROGRAM),
    readonly(GLOBAL_VOLUME),
    writable(userVolume(trader)),
    readonly(FEE_CONFIG),
    readonly(FEE_PROGRAM),
    readonly(coin.key('curve-v2')),
    writable(BUYBACK_RECIPIENT),
  ]
  const data = byteWriter(25)
    .hex('66063d1201daebea')
    .u64(tokens)
    .u64((order.amount * 101n) / 100n)
    .u8(0)
  const record = (tx: TransactionBuilder) =>
    tx.call(
      PUMPFUN_PROGRAM,
      accounts,
      data.done(),
      () => {
        tx.log('Instruction: Buy')
        getFees(tx, FEE_CONFIG, PUMPFUN_PROGRAM, curve.virtualSol, sol)
        if (order.refuse) {
          refuse(tx, 'TooMuchSolRequired', TOO_MUCH_SOL_REQUIRED)
        }
        transferTokenChecked(tx, vault, order.base, curveOf(coin), tokens)
        transferSol(tx, trader, creatorVault(coin), creatorFee)
        transferSol(tx, trader, curveOf(coin), sol)
        transferSol(tx, trader, BUYBACK_RECIPIENT, fee / 2n)
        transferSol(tx, trader, FEE_RECIPIENT, fee - fee / 2n)
        emitTrade(tx, order, { sol, tokens, fee, creatorFee, after })
      },
      24_000,
    )
  return {
    program: PUMPFUN_PROGRAM,
    accounts,
    fill: { base: tokens, quote: sol + fee + creatorFee },
    record,
  }
}

function sell(order: SwapOrder): PlannedSwap {
  const { coin, trader } = order
  const curve = curveAt(coin, order.slot)
  const tokens = order.amount
  const product = curve.virtualSol * curve.virtualTokens
  const sol = curve.virtualSol - product / (curve.virtualTokens + tokens) - 1n
  const fee = feeOf(sol, PROTOCOL_BPS)
  const creatorFee = feeOf(sol, CREATOR_BPS)
  const after = {
    virtualSol: curve.virtualSol - sol,
    virtualTokens: curve.virtualTokens + tokens,
    realSol: curve.realSol - sol,
    realTokens: curve.realTokens + tokens,
  }
  const vault = associatedTokenAccount(curveOf(coin), coin.mint.key, coin.mint.program)
  const accounts: AccountMeta[] = [
    readonly(GLOBAL),
    writable(FEE_RECIPIENT),
    readonly(coin.mint.key),
    writable(curveOf(coin)),
    writable(vault),
    writable(order.base),
    writableSigner(trader),
    readonly(SYSTEM),
    writable(creatorVault(coin)),
    readonly(coin.mint.program),
    readonly(EVENT_AUTHORITY),
    readonly(PUMPFUN_PROGRAM),
    readonly(FEE_CONFIG),
    readonly(FEE_PROGRAM),
    readonly(coin.key('curve-v2')),
    writable(BUYBACK_RECIPIENT),
  ]
  const data = byteWriter(24)
    .hex('33e685a4017f83ad')
    .u64(tokens)
    .u64((sol * 9n) / 10n)
  const record = (tx: TransactionBuilder) =>
    tx.call(
      PUMPFUN_PROGRAM,
      accounts,
      data.done(),
      () => {
        tx.log('Instruction: Sell')
        getFees(tx, FEE_CONFIG, PUMPFUN_PROGRAM, curve.virtualSol, sol)
        if (order.refuse) {
          refuse(tx, 'TooLittleSolReceived', TOO_LITTLE_SOL_RECEIVED)
        }
        transferTokenChecked(tx, order.base, vault, trader, tokens)
        tx.moveLamports(curveOf(coin), trader, sol - fee - creatorFee)
        tx.moveLamports(curveOf(coin), creatorVault(coin), creatorFee)
        tx.moveLamports(curveOf(coin), BUYBACK_RECIPIENT, fee / 2n)
        tx.moveLamports(curveOf(coin), FEE_RECIPIENT, fee - fee / 2n)
        emitTrade(tx, order, { sol, tokens, fee, creatorFee, after })
      },
      22_000,
    )
  return {
    program: PUMPFUN_PROGRAM,
    accounts,
    fill: { base: tokens, quote: sol - fee - creatorFee },
    record,
  }
}

/** Fails the instruction as Anchor programs do: a log line that names the error, then its code. */
export function refuse(tx: TransactionBuilder, name: string, code: number): never {
  tx.log(
    `AnchorError occurred. Error Code: ${name}. Error Number: ${code}. Error Message: slippage.`,
  )
  return tx.fail(code)
}

/** `get_fees` of pump's fee program: bool is_pump_pool, u128 market value, u64 trade size, bool. */
export function getFees(
  tx: TransactionBuilder,
  config: Key,
  program: Key,
  marketLamports: bigint,
  tradeLamports: bigint,
): void {
  const data = byteWriter(34)
    .hex('e7257e55cf5b3f34')
    .bool(true)
    .u128(marketLamports * 10n)
    .u64(tradeLamports)
    .bool(false)
  tx.call(
    FEE_PROGRAM,
    [readonly(config), readonly(program)],
    data.done(),
    () => {
      tx.log('Instruction: GetFees')
      tx.logReturn(FEE_PROGRAM, byteWriter(24).u64(0).u64(PROTOCOL_BPS).u64(CREATOR_BPS).done())
    },
    3_302,
  )
}

interface Trade {
  readonly sol: bigint
  readonly tokens: bigint
  readonly fee: bigint
  readonly creatorFee: bigint
  readonly after: Curve
}

/**
 * `TradeEvent`: 32 mint, u64 sol, u64 tokens, bool is_buy, 32 user, i64 timestamp, u64 virtual sol,
 * u64 virtual tokens, u64 real sol, u64 real tokens, 32 fee recipient, u64 fee bps, u64 fee, 32
 * creator, u64 creator fee bps, u64 creator fee, bool track_volume, u64 x 4 volume rewards, string
 * instruction, bool mayhem, u64 cashback bps, u64 cashback, u64 buyback bps, u64 buyback, then
 * fields of newer curves.
 */
function emitTrade(tx: TransactionBuilder, order: SwapOrder, trade: Trade): void {
  const { coin } = order
  const event = byteWriter(400)
    .hex('bddb7fd34ee661ee')
    .key(coin.mint.key)
    .u64(trade.sol)
    .u64(trade.tokens)
    .bool(order.side === 'buy')
    .key(order.trader)
    .u64(order.time)
    .u64(trade.after.virtualSol)
    .u64(trade.after.virtualTokens)
    .u64(trade.after.realSol)
    .u64(trade.after.realTokens)
    .key(FEE_RECIPIENT)
    .u64(PROTOCOL_BPS)
    .u64(trade.fee)
    .key(coin.key('creator'))
    .u64(CREATOR_BPS)
    .u64(trade.creatorFee)
    .bool(false)
    .u64(0)
    .u64(0)
    .u64(0)
    .u64(0)
    .text(order.side)
    .bool(false)
    .u64(0)
    .u64(0)
    .u64(5_000)
    .u64(trade.fee / 2n)
    .raw(new Uint8Array(36))
    .u64(trade.sol)
    .u64(trade.after.virtualSol)
    .u64(trade.after.realSol)
    .done()
  emitEvent(tx, PUMPFUN_PROGRAM, EVENT_AUTHORITY, event)
}

/** Anchor's `emit_cpi!`, with the same event as a log line if the program writes both. */
export function emitEvent(
  tx: TransactionBuilder,
  program: Key,
  authority: Key,
  event: Uint8Array,
  logged = true,
): void {
  if (logged) tx.logData(event)
  const data = byteWriter(event.length + 8)
    .hex('e445a52e51cb9a1d')
    .raw(event)
    .done()
  tx.call(program, [readonly(authority)], data, undefined, 2_093)
}

/** Reserves of a curve in raw units. */
export interface Curve {
  readonly virtualSol: bigint
  readonly virtualTokens: bigint
  readonly realSol: bigint
  readonly realTokens: bigint
}

/** Reserves of a curve at a slot. */
export function curveAt(coin: Coin, slot: number): Curve {
  const product = INITIAL_VIRTUAL_SOL * INITIAL_VIRTUAL_TOKENS
  const sol = Math.round(Math.sqrt(Number(product) * priceAt(coin, slot)))
  const virtualSol = BigInt(sol)
  const virtualTokens = product / virtualSol
  return {
    virtualSol,
    virtualTokens,
    realSol: virtualSol - INITIAL_VIRTUAL_SOL,
    realTokens: virtualTokens - RESERVED_TOKENS,
  }
}

/** The bonding curve of a coin. */
export function curveOf(coin: Coin): Key {
  return coin.key('bonding-curve')
}

function creatorVault(coin: Coin): Key {
  return coin.key('creator-vault')
}

/** The trader's volume account, which already exists. */
function userVolume(trader: Key): Key {
  let found = volumes.get(trader.id)
  if (found === undefined) {
    found = derivedKey(0, `volume/${trader.address}`)
    if (volumes.size > 100_000) volumes.clear()
    volumes.set(trader.id, found)
  }
  return found
}
const volumes = new Map<string, Key>()
