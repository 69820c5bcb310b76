import { associatedTokenAccount, type Key } from './key.ts'
import {
  closeAccount,
  createAssociatedAccount,
  syncNative,
  transferSol,
  transferToken,
  transferTokenChecked,
  WSOL_TOKEN,
  wsolAccount,
} from './native.ts'
import { TOKEN, USDC_MINT } from './programs.ts'
import {
  beginTransaction,
  finishTransaction,
  type MarketAction,
  type MarketScene,
  pickUntracked,
} from './scene.ts'
import { type Mint, TransactionBuilder } from './transaction-builder.ts'
import type { Intent } from './truth.ts'
import type { Wallet } from './universe.ts'

/**
 * Sends SOL to an untracked wallet, or receives it from one. There is no compute budget, so that
 * the fee is 5,000 lamports.
 */
export function moveSol(
  scene: MarketScene,
  wallet: Wallet,
  direction: 'in' | 'out',
  lamports: bigint,
): MarketAction {
  const other = pickUntracked(scene, lamports)
  const [from, to] = direction === 'in' ? [other, wallet.key] : [wallet.key, other]
  const tx = new TransactionBuilder(from, scene.ledger)
  transferSol(tx, from, to, lamports)
  return {
    draft: finishTransaction(tx, scene),
    intents: [{ kind: 'sol_transfer', wallet: wallet.number, direction, lamports }],
  }
}

/** Sends SOL from one tracked wallet to another. */
export function handSol(
  scene: MarketScene,
  from: Wallet,
  to: Wallet,
  lamports: bigint,
): MarketAction {
  const tx = beginTransaction(scene, from.key)
  transferSol(tx, from.key, to.key, lamports)
  return {
    draft: finishTransaction(tx, scene),
    intents: [
      { kind: 'sol_transfer', wallet: from.number, direction: 'out', lamports },
      { kind: 'sol_transfer', wallet: to.number, direction: 'in', lamports },
    ],
  }
}

/**
 * Receives a token from an untracked wallet. The transaction names only the token accounts when the
 * wallet's account already exists.
 */
export function receiveToken(
  scene: MarketScene,
  wallet: Wallet,
  mint: Mint,
  amount: bigint,
): MarketAction {
  const other = pickUntracked(scene, 0n)
  const source = associatedTokenAccount(other, mint.key, mint.program)
  scene.ledger.grant(source, 2_039_280n, { mint, owner: other, amount: amount * 3n })
  const target = associatedTokenAccount(wallet.key, mint.key, mint.program)
  const tx = beginTransaction(scene, other)
  if (scene.ledger.tokenAccount(target) === null) {
    createAssociatedAccount(tx, other, wallet.key, mint)
  }
  // Token-2022 requires `TransferChecked`; with SPL Token both forms are common.
  const checked = mint.program !== TOKEN || scene.random.chance(0.5)
  ;(checked ? transferTokenChecked : transferToken)(tx, source, target, other, amount)
  return { draft: finishTransaction(tx, scene), intents: tokenTransfer(wallet, 'in', mint, amount) }
}

/**
 * Sends a token to a tracked or an untracked wallet. If nothing is left, it closes the account,
 * unless that account must stay.
 */
export function sendToken(
  scene: MarketScene,
  wallet: Wallet,
  mint: Mint,
  amount: bigint,
  to: Wallet | null,
): MarketAction {
  const receiver = to?.key ?? scene.random.pick(scene.universe.untrackedKeys)
  const source = associatedTokenAccount(wallet.key, mint.key, mint.program)
  const all = scene.ledger.tokenAccount(source)!.amount === amount && mint.key !== USDC_MINT
  const tx = beginTransaction(scene, wallet.key)
  const target = createAssociatedAccount(tx, wallet.key, receiver, mint)
  transferTokenChecked(tx, source, target, wallet.key, amount)
  if (all) closeAccount(tx, source, wallet.key, wallet.key)
  const intents = [
    ...tokenTransfer(wallet, 'out', mint, amount),
    ...(to === null ? [] : tokenTransfer(to, 'in', mint, amount)),
  ]
  return { draft: finishTransaction(tx, scene), intents }
}

/** A quote coin gives no token transfer (rule B12). */
function tokenTransfer(
  wallet: Wallet,
  direction: 'in' | 'out',
  mint: Mint,
  amount: bigint,
): Intent[] {
  if (mint.key === USDC_MINT) return []
  const { key, decimals } = mint
  const moved = { direction, mint: key.address, amount, decimals }
  return [{ kind: 'token_transfer', wallet: wallet.number, ...moved }]
}

/** Closes a token account: its rent and wrapped SOL return to the wallet; nothing is traded. */
export function closeHolding(scene: MarketScene, wallet: Wallet, account: Key): MarketAction {
  const tx = beginTransaction(scene, wallet.key)
  closeAccount(tx, account, wallet.key, wallet.key)
  return { draft: finishTransaction(tx, scene), intents: [] }
}

/** Wraps SOL and keeps it wrapped, which is not an event (rule B3). */
export function wrapSol(scene: MarketScene, wallet: Wallet, lamports: bigint): MarketAction {
  const tx = beginTransaction(scene, wallet.key)
  createAssociatedAccount(tx, wallet.key, wallet.key, WSOL_TOKEN)
  transferSol(tx, wallet.key, wsolAccount(wallet.key), lamports)
  syncNative(tx, wsolAccount(wallet.key))
  return { draft: finishTransaction(tx, scene), intents: [] }
}
