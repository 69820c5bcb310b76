import type { Random } from '../random.ts'
import type { DeskLedger } from './desk-ledger.ts'
import { type Key, wellKnown } from './key.ts'
import { transferSol } from './native.ts'
import { type Draft, type LookupTable, TransactionBuilder } from './transaction-builder.ts'
import type { Intent } from './truth.ts'
import type { Universe } from './universe.ts'

/** A transaction ready to be placed in its slot, and what it was meant to do. */
export interface Action {
  readonly draft: Draft
  readonly intents: readonly Intent[]
}

/** What an action knows when it is carried out. */
export interface Scene {
  readonly universe: Universe
  readonly ledger: DeskLedger
  readonly slot: number
  /** Unix seconds of the block. */
  readonly time: number
  readonly random: Random
}

/** Some of Jito's tip accounts: what goes there is no flow of a swap (rule B3). */
const TIP_ACCOUNTS = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
].map(wellKnown)

/** Accounts of which a message of 1,232 bytes has room for in full, beside its instructions. */
const MOST_ACCOUNTS_SPELT_OUT = 27

/** A transaction, mostly with a compute budget. */
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

/**
 * Compiles the message in one of the forms seen on chain (legacy, version 0, with lookup tables) and keeps what it left in the ledger. What names
 * many accounts is too long for a packet without tables.
 */
export function finish(
  tx: TransactionBuilder,
  scene: Scene,
  tables: readonly LookupTable[] = [],
): Draft {
  const drawn = scene.random.float()
  const form = tx.accountCount > MOST_ACCOUNTS_SPELT_OUT ? 1 : drawn
  const draft = tx.build({ versioned: form > 0.3, tables: form > 0.55 ? tables : [] })
  scene.ledger.apply(draft)
  return draft
}

/** Somebody nobody tracks, who can pay. */
export function stranger(scene: Scene, lamports: bigint): Key {
  const key = scene.random.pick(scene.universe.strangers)
  if (scene.ledger.lamports(key) < lamports + 1_000_000_000n) {
    scene.ledger.grant(key, lamports * 3n + 40_000_000_000n + key.lamports, null)
  }
  return key
}
