import { addressBytes } from '../domain/address.ts'
import { createKeyTable } from '../domain/key-table.ts'
import { PLUMBING, type Plumbing } from './plumbing.ts'
import type { Program } from './program.ts'
import { TIP_ACCOUNTS } from './tips.ts'
import { jupiter } from './venues/jupiter.ts'
import { meteoraDlmm } from './venues/meteora-dlmm.ts'
import { notTrading } from './venues/not-trading.ts'
import { orcaWhirlpool } from './venues/orca-whirlpool.ts'
import { pumpfun } from './venues/pumpfun.ts'
import { pumpswap } from './venues/pumpswap.ts'
import { raydiumAmm } from './venues/raydium-amm.ts'
import { raydiumClmm } from './venues/raydium-clmm.ts'

/** A program that the decoder knows: traded on, or part of the chain's own plumbing. */
export type KnownProgram = Program | Plumbing

/** Every program of the table in decisions H. To add one: write its file in `venues/`, name it here. */
export const PROGRAMS: readonly Program[] = [
  pumpfun,
  pumpswap,
  raydiumAmm,
  raydiumClmm,
  orcaWhirlpool,
  meteoraDlmm,
  ...jupiter,
  ...notTrading,
]

const KNOWN: readonly KnownProgram[] = [...PLUMBING, ...PROGRAMS]
const known = createKeyTable(KNOWN.map(({ id }) => addressBytes(id)))
const tips = createKeyTable(TIP_ACCOUNTS.map(addressBytes))

/** The known program behind 32 key bytes; null for every other. */
export function knownProgram(key: Uint8Array): KnownProgram | null {
  const number = known.get(key)
  return number === 0 ? null : KNOWN[number - 1]!
}

/** Whether the 32 key bytes are an account that takes tips (decisions B3). */
export function isTip(key: Uint8Array): boolean {
  return tips.get(key) !== 0
}
