import { byteWriter } from '../byte-writer.ts'
import { associatedTokenAccount, derivedKey, type Key, rememberedKey, wellKnown } from '../key.ts'
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
import { type Coin, poolKeyOf, priceAt } from '../universe.ts'
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
    const { curve, vault, creator } = accountsOf(coin)
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
      fixed(creator, 59_947_142n),
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
  const { coin, trader, amount } = order
  const before = curveAt(coin, order.slot)
  const sol = (amount * 10_000n) / (10_000n + PROTOCOL_BPS + CREATOR_BPS) - 2n
  const product = before.virtualSol * before.virtualTokens
  const tokens = before.virtualTokens - product / (before.virtualSol + sol) - 1n
  const trade = tradeOf(before, sol, -tokens)
  const { curve, vault, creator } = accountsOf(coin)
  const { fee, creatorFee } = trade
  return {
    program: PUMPFUN_PROGRAM,
    accounts: [
      ...commonAccounts(order),
      readonly(coin.mint.program),
      writable(creator),
      readonly(EVENT_AUTHORITY),
      readonly(PUMPFUN_PROGRAM),
      readonly(GLOBAL_VOLUME),
      writable(userVolume(trader)),
      ...lastAccounts(coin),
    ],
    data: byteWriter(25)
      .hex('66063d1201daebea')
      .u64(tokens, (amount * 101n) / 100n)
      .u8(0)
      .done(),
    fill: { base: tokens, quote: sol + fee + creatorFee },
    units: 24_000,
    run(tx) {
      tx.log('Instruction: Buy')
      getFees(tx, FEE_CONFIG, PUMPFUN_PROGRAM, before.virtualSol, sol)
      if (order.refuse) refuse(tx, 'TooMuchSolRequired', TOO_MUCH_SOL_REQUIRED)
      transferTokenChecked(tx, vault, order.base, curve, tokens)
      transferSol(tx, trader, creator, creatorFee)
      transferSol(tx, trader, curve, sol)
      transferSol(tx, trader, BUYBACK_RECIPIENT, fee / 2n)
      transferSol(tx, trader, FEE_RECIPIENT, fee - fee / 2n)
      emitTrade(tx, order, trade)
    },
  }
}

function sell(order: SwapOrder): PlannedSwap {
  const { coin, trader, amount: tokens } = order
  const before = curveAt(coin, order.slot)
  const product = before.virtualSol * before.virtualTokens
  const sol = before.virtualSol - product / (before.virtualTokens + tokens) - 1n
  const trade = tradeOf(before, -sol, tokens)
  const { curve, vault, creator } = accountsOf(coin)
  const { fee, creatorFee } = trade
  return {
    program: PUMPFUN_PROGRAM,
    accounts: [
      ...commonAccounts(order),
      writable(creator),
      readonly(coin.mint.program),
      readonly(EVENT_AUTHORITY),
      readonly(PUMPFUN_PROGRAM),
      ...lastAccounts(coin),
    ],
    data: byteWriter(24)
      .hex('33e685a4017f83ad')
      .u64(tokens, (sol * 9n) / 10n)
      .done(),
    fill: { base: tokens, quote: sol - fee - creatorFee },
    units: 22_000,
    run(tx) {
      tx.log('Instruction: Sell')
      getFees(tx, FEE_CONFIG, PUMPFUN_PROGRAM, before.virtualSol, sol)
      if (order.refuse) refuse(tx, 'TooLittleSolReceived', TOO_LITTLE_SOL_RECEIVED)
      transferTokenChecked(tx, order.base, vault, trader, tokens)
      tx.moveLamports(curve, trader, sol - fee - creatorFee)
      tx.moveLamports(curve, creator, creatorFee)
      tx.moveLamports(curve, BUYBACK_RECIPIENT, fee / 2n)
      tx.moveLamports(curve, FEE_RECIPIENT, fee - fee / 2n)
      emitTrade(tx, order, trade)
    },
  }
}

/** The first 8 accounts of both instructions. */
function commonAccounts({ coin, base, trader }: SwapOrder): AccountMeta[] {
  const { curve, vault } = accountsOf(coin)
  return [
    readonly(GLOBAL),
    writable(FEE_RECIPIENT),
    readonly(coin.mint.key),
    writable(curve),
    writable(vault),
    writable(base),
    writableSigner(trader),
    readonly(SYSTEM),
  ]
}

/** The last 4 accounts of both instructions. */
function lastAccounts(coin: Coin): AccountMeta[] {
  return [
    ...[FEE_CONFIG, FEE_PROGRAM, coin.key('curve-v2')].map(readonly),
    writable(BUYBACK_RECIPIENT),
  ]
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
      tx.logReturn(FEE_PROGRAM, byteWriter(24).u64(0, PROTOCOL_BPS, CREATOR_BPS).done())
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

/** A trade that adds these amounts to a curve, one of them negative. */
function tradeOf(before: Curve, solIn: bigint, tokensIn: bigint): Trade {
  const [sol, tokens] = solIn > 0n ? [solIn, -tokensIn] : [-solIn, tokensIn]
  return {
    sol,
    tokens,
    fee: feeOf(sol, PROTOCOL_BPS),
    creatorFee: feeOf(sol, CREATOR_BPS),
    after: {
      virtualSol: before.virtualSol + solIn,
      virtualTokens: before.virtualTokens + tokensIn,
      realSol: before.realSol + solIn,
      realTokens: before.realTokens + tokensIn,
    },
  }
}

/**
 * `TradeEvent`: 32 mint, u64 sol, u64 tokens, bool is_buy, 32 user, i64 timestamp, u64 virtual sol,
 * u64 virtual tokens, u64 real sol, u64 real tokens, 32 fee recipient, u64 fee bps, u64 fee, 32
 * creator, u64 creator fee bps, u64 creator fee, bool track_volume, u64 x 4 volume rewards, string
 * instruction, bool mayhem, u64 cashback bps, u64 cashback, u64 buyback bps, u64 buyback, then
 * fields of newer curves.
 */
function emitTrade(tx: TransactionBuilder, order: SwapOrder, trade: Trade): void {
  const { coin, side, trader, time } = order
  const { sol, tokens, fee, creatorFee, after } = trade
  const event = byteWriter(400)
    .hex('bddb7fd34ee661ee')
    .key(coin.mint.key)
    .u64(sol, tokens)
    .bool(side === 'buy')
    .key(trader)
    .u64(time, after.virtualSol, after.virtualTokens, after.realSol, after.realTokens)
    .key(FEE_RECIPIENT)
    .u64(PROTOCOL_BPS, fee)
    .key(coin.key('creator'))
    .u64(CREATOR_BPS, creatorFee)
    .bool(false)
    .u64(0, 0, 0, 0)
    .text(side)
    .bool(false)
    .u64(0, 0, 5_000, fee / 2n)
    .zeros(36)
    .u64(sol, after.virtualSol, after.realSol)
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
  const data = Buffer.concat([Buffer.from('e445a52e51cb9a1d', 'hex'), event])
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

function accountsOf(coin: Coin) {
  const curve = poolKeyOf(coin)
  return {
    curve,
    vault: associatedTokenAccount(curve, coin.mint.key, coin.mint.program),
    creator: coin.key('creator-vault'),
  }
}

/** The trader's volume account, which already exists. */
const userVolume = (trader: Key) => rememberedKey(`volume/${trader.address}`)
