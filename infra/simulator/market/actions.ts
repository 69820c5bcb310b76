import type { Random } from '../random.ts'
import type { DeskLedger } from './desk-ledger.ts'
import { associatedTokenAccount, type Key, wellKnown } from './key.ts'
import {
  closeAccount,
  createAssociatedAccount,
  transferSol,
  transferToken,
  transferTokenChecked,
} from './native.ts'
import { TOKEN } from './programs.ts'
import { type Draft, type Mint, TransactionBuilder } from './transaction-builder.ts'
import type { Intent } from './truth.ts'
import type { Coin, Wallet } from './universe.ts'
import { VENUES } from './venues/registry.ts'

/** A transaction ready to be placed in its slot, and what it was meant to do. */
export interface Action {
  readonly draft: Draft
  readonly intents: readonly Intent[]
}

/** What an action knows when it is carried out. */
export interface Scene {
  readonly ledger: DeskLedger
  readonly slot: number
  /** Unix seconds of the block. */
  readonly time: number
  readonly random: Random
  readonly strangers: readonly Key[]
}

/** Jito's tip accounts: what goes there is no flow of a swap (decisions B3). */
const TIP_ACCOUNTS = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
].map(wellKnown)

/** What a trading terminal takes beside a swap against SOL: 1% (decisions B13a). */
const TERMINAL_FEE_PERCENT = 1n
const TERMINAL = wellKnown('9yMwSPk9mrXSN7yDHUuZurAh1sjbJsfpUqjZ7SvVtdco')

/** Buys or sells a coin on its venue. `amount`: quote of a buy, base of a sell; a sale of everything closes the account. */
export function swapOnVenue(
  scene: Scene,
  wallet: Wallet,
  coin: Coin,
  side: 'buy' | 'sell',
  amount: bigint,
  refuse = false,
): Action {
  const { random, ledger } = scene
  const { venue, program } = VENUES[coin.venue]!
  const tx = begin(scene, wallet.key)
  const base =
    side === 'buy'
      ? createAssociatedAccount(tx, wallet.key, wallet.key, coin.mint)
      : associatedTokenAccount(wallet.key, coin.mint.key, coin.mint.program)
  const all = side === 'sell' && ledger.tokenAccount(base)!.amount === amount
  const fill = venue.swap(tx, {
    coin,
    side,
    trader: wallet.key,
    base,
    quote: base,
    amount,
    slot: scene.slot,
    time: scene.time,
    refuse,
  })
  if (all) closeAccount(tx, base, wallet.key, wallet.key)
  const fee = random.chance(0.2) ? (fill.quote * TERMINAL_FEE_PERCENT) / 100n : 0n
  if (fee > 0n) transferSol(tx, wallet.key, TERMINAL, fee)
  if (random.chance(0.3)) tip(tx, scene, wallet.key)
  const draft = finish(tx, scene, coin)
  if (draft.failure !== null) return { draft, intents: [] }
  const intent: Intent = {
    kind: 'swap',
    wallet: wallet.number,
    side,
    mint: coin.mint,
    baseAmount: fill.base,
    quote: coin.quote,
    quoteAmount: fill.quote,
    program: coin.venue,
    programId: program,
    confidence: 'high',
    feeLamports: fee,
  }
  return { draft, intents: [intent] }
}

/** SOL comes from, or goes to, somebody who is not tracked. */
export function moveSol(
  scene: Scene,
  wallet: Wallet,
  direction: 'in' | 'out',
  lamports: bigint,
): Action {
  const stranger = scene.random.pick(scene.strangers)
  fund(scene, stranger, lamports)
  const [from, to] = direction === 'in' ? [stranger, wallet.key] : [wallet.key, stranger]
  const tx = new TransactionBuilder(from, scene.ledger)
  transferSol(tx, from, to, lamports)
  return {
    draft: finish(tx, scene, null),
    intents: [{ kind: 'sol_transfer', wallet: wallet.number, direction, lamports }],
  }
}

/** A token comes from a stranger. Named are the token accounts alone, when the wallet's exists already. */
export function receiveToken(scene: Scene, wallet: Wallet, mint: Mint, amount: bigint): Action {
  const stranger = scene.random.pick(scene.strangers)
  const source = associatedTokenAccount(stranger, mint.key, mint.program)
  scene.ledger.grant(source, 2_039_280n, { mint, owner: stranger, amount: amount * 3n })
  fund(scene, stranger, 0n)
  const target = associatedTokenAccount(wallet.key, mint.key, mint.program)
  const tx = begin(scene, stranger)
  if (scene.ledger.tokenAccount(target) === null) {
    createAssociatedAccount(tx, stranger, wallet.key, mint)
  }
  // Token-2022 wants the checked form; of SPL Token both are common.
  const checked = mint.program !== TOKEN || scene.random.chance(0.5)
  ;(checked ? transferTokenChecked : transferToken)(tx, source, target, stranger, amount)
  return {
    draft: finish(tx, scene, null),
    intents: [{ kind: 'token_transfer', wallet: wallet.number, direction: 'in', mint, amount }],
  }
}

/** A token goes to a stranger, or to another tracked wallet of the desk; everything: the account is closed. */
export function sendToken(
  scene: Scene,
  wallet: Wallet,
  mint: Mint,
  amount: bigint,
  to: Wallet | null,
): Action {
  const receiver = to?.key ?? scene.random.pick(scene.strangers)
  const source = associatedTokenAccount(wallet.key, mint.key, mint.program)
  const all = scene.ledger.tokenAccount(source)!.amount === amount
  const tx = begin(scene, wallet.key)
  const target = createAssociatedAccount(tx, wallet.key, receiver, mint)
  transferTokenChecked(tx, source, target, wallet.key, amount)
  if (all) closeAccount(tx, source, wallet.key, wallet.key)
  const intents: Intent[] = [
    { kind: 'token_transfer', wallet: wallet.number, direction: 'out', mint, amount },
  ]
  if (to !== null) {
    intents.push({ kind: 'token_transfer', wallet: to.number, direction: 'in', mint, amount })
  }
  return { draft: finish(tx, scene, null), intents }
}

/** Sees to it that a stranger can pay. */
function fund(scene: Scene, stranger: Key, lamports: bigint): void {
  if (scene.ledger.lamports(stranger) > lamports + 1_000_000_000n) return
  scene.ledger.grant(stranger, lamports * 3n + 40_000_000_000n + stranger.lamports, null)
}

/** A transaction with its compute budget. */
export function begin(scene: Scene, payer: Key): TransactionBuilder {
  const tx = new TransactionBuilder(payer, scene.ledger)
  if (scene.random.chance(0.85)) {
    tx.computeBudget(200_000, BigInt(scene.random.below(2_000_000)))
  }
  return tx
}

/** Pays a block engine for a place in the block. */
export function tip(tx: TransactionBuilder, scene: Scene, from: Key): void {
  const lamports = BigInt(1_000 + scene.random.below(2_000_000))
  transferSol(tx, from, scene.random.pick(TIP_ACCOUNTS), lamports)
}

/** Compiles the message in one of the forms seen on chain and keeps what it left in the ledger. */
export function finish(tx: TransactionBuilder, scene: Scene, coin: Coin | null): Draft {
  const form = scene.random.float()
  const table = coin === null ? undefined : VENUES[coin.venue]?.venue.table(coin)
  const draft = tx.build({
    versioned: form > 0.3,
    tables: form > 0.55 && table !== undefined ? [table] : [],
  })
  scene.ledger.apply(draft)
  return draft
}

/** Closes an empty token account: its rent comes back, nothing is traded. */
export function closeEmpty(scene: Scene, wallet: Wallet, account: Key): Action {
  const tx = begin(scene, wallet.key)
  closeAccount(tx, account, wallet.key, wallet.key)
  return { draft: finish(tx, scene, null), intents: [] }
}
