import type { Random } from '../random.ts'
import type { DeskLedger } from './desk-ledger.ts'
import { type Key, wellKnown } from './key.ts'
import { transferSol } from './native.ts'
import { type Draft, type LookupTable, TransactionBuilder } from './transaction-builder.ts'
import type { Intent } from './truth.ts'
import type { Universe } from './universe.ts'

/** A transaction without its place in the chain, and its intents. */
export interface MarketAction {
  readonly draft: Draft
  readonly intents: readonly Intent[]
}

/** Context of an action: everything it may use when it is performed. */
export interface MarketScene {
  readonly universe: Universe
  readonly ledger: DeskLedger
  readonly slot: number
  /** Unix seconds of the block. */
  readonly time: number
  readonly random: Random
}

/** Some of Jito's tip accounts; a tip is not a flow of a swap (rule B3). */
const TIP_ACCOUNTS = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
].map(wellKnown)

/** Number of accounts that fit into a message of 1,232 bytes without a lookup table. */
const MOST_ACCOUNTS_SPELT_OUT = 27

/** Shares of transactions with a compute budget, and with one in a config of version 1. */
const SHARE_WITH_BUDGET = 0.85
const SHARE_OF_VERSION_1 = 0.25

/** Begins a transaction; most have a compute budget, and some of these are of version 1. */
export function beginTransaction(scene: MarketScene, payer: Key): TransactionBuilder {
  const tx = new TransactionBuilder(payer, scene.ledger)
  const form = scene.random.float()
  if (form < SHARE_WITH_BUDGET) {
    const unitPrice = BigInt(scene.random.below(2_000_000))
    if (form < SHARE_OF_VERSION_1) tx.configBudget(200_000, unitPrice)
    else tx.computeBudget(200_000, unitPrice)
  }
  return tx
}

/** Adds a tip to a block engine. */
export function addTip(tx: TransactionBuilder, scene: MarketScene, from: Key): void {
  const lamports = BigInt(1_000 + scene.random.below(2_000_000))
  transferSol(tx, from, scene.random.pick(TIP_ACCOUNTS), lamports)
}

/**
 * Compiles the message in one of the forms seen on chain (legacy, version 0 without and with lookup
 * tables, version 1), and applies the transaction to the ledger. A message of version 0 with many
 * accounts needs tables to fit into a packet.
 */
export function finishTransaction(
  tx: TransactionBuilder,
  scene: MarketScene,
  tables: readonly LookupTable[] = [],
): Draft {
  const drawn = scene.random.float()
  const form = tx.accountCount > MOST_ACCOUNTS_SPELT_OUT ? 1 : drawn
  const draft = tx.build({ versioned: form > 0.3, tables: form > 0.55 ? tables : [] })
  scene.ledger.apply(draft)
  return draft
}

/** An untracked wallet with enough lamports to pay. */
export function pickUntracked(scene: MarketScene, lamports: bigint): Key {
  const key = scene.random.pick(scene.universe.untrackedKeys)
  if (scene.ledger.lamports(key) < lamports + 1_000_000_000n) {
    scene.ledger.grant(key, lamports * 3n + 40_000_000_000n + key.lamports, null)
  }
  return key
}
