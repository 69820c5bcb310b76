import { createHash } from 'node:crypto'
import type { Address } from '../domain/address.ts'
import type { Instruction } from '../domain/transaction.ts'
import { startsWith } from './bytes.ts'

/** Kinds of known programs (section H of the rules). */
export type ProgramKind = 'venue' | 'router' | 'order' | 'not_trading'

/** A program that the decoder knows. Each has a file in `venues/`. */
export interface Program {
  /** The name that is served (rules of section H). */
  readonly name: string
  readonly id: Address
  readonly kind: ProgramKind
  /** Recognises swap entry points (rule B4). Omitted by programs that are not traded on. */
  readonly isSwap?: EntryPoints
  /** Lamports that a swap credits to an account without a transfer instruction (rule B5). */
  readonly readCredit?: (call: ProgramCall) => DirectCredit | null
  /**
   * Index in `accountKeys` of the pool whose vault is an end of a move inside one of the program's
   * swaps. Null when no vault is.
   */
  readonly poolOf?: PoolReader
  /** Reads the effect of an instruction of an order program on an order (rule B2a). */
  readonly readOrder?: (instruction: Instruction) => OrderAction | null
}

/**
 * Decides by data and accounts whether an instruction is a swap entry point.
 *
 * Where they do not tell, because the data is not published or an order may rest, the moves decide.
 * `two_mints`: a swap if the instruction and its inner instructions move two mints.
 * `two_mints_around`: a swap if its whole top-level instruction does.
 */
export type EntryPoints = (
  data: Uint8Array,
  accounts: Uint8Array,
) => boolean | 'two_mints' | 'two_mints_around'

/** Finds the pool behind a move of tokens inside a swap instruction: see `Program.poolOf`. */
export type PoolReader = (
  instruction: Instruction,
  move: { readonly source: number; readonly destination: number },
) => number | null

/** An instruction and its inner instructions: `instructions[at]`, then those before index `end`. */
export interface ProgramCall {
  readonly accountKeys: readonly Uint8Array[]
  readonly instructions: readonly Instruction[]
  readonly at: number
  readonly end: number
}

/** Lamports that a venue credited directly. Accounts are indexes in `accountKeys`. */
export interface DirectCredit {
  readonly source: number
  readonly destination: number
  /**
   * Lamports that the destination received. Null when the venue did not state them: the credits
   * then share the balance change in proportion to `weight`.
   */
  readonly lamports: bigint | null
  readonly weight: bigint
}

/**
 * Effect of one instruction of an order program on one order. Accounts are indexes in
 * `accountKeys`.
 */
export interface OrderAction {
  /**
   * `take` and `settle` are the two ends of a flash fill. `fill` is both at once. `other` places,
   * cancels or withdraws.
   */
  readonly kind: 'take' | 'settle' | 'fill' | 'other'
  readonly order: number
  /** The order's owner, if the instruction names it. */
  readonly owner: number | null
  /** Token accounts that hold the tokens of the order. */
  readonly escrows: readonly number[]
}

/**
 * First eight bytes of an Anchor instruction's data: sha256("global:<name>"), name in snake case.
 */
export function anchorDiscriminator(name: string): Uint8Array {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
}

/** First eight bytes of an Anchor event: sha256("event:<Name>"). */
export function anchorEvent(name: string): Uint8Array {
  return createHash('sha256').update(`event:${name}`).digest().subarray(0, 8)
}

/**
 * First eight bytes of the data with which an Anchor program emits an event by calling itself: the
 * first eight bytes of sha256("anchor:event") in reverse order.
 */
export const ANCHOR_EVENT_CALL = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d)

/** Entry points of an Anchor program, by instruction name. */
export function anchorSwaps(...names: readonly string[]): EntryPoints {
  return discriminatorSwaps(names.map(anchorDiscriminator))
}

/** Entry points by the first bytes of the data. */
function discriminatorSwaps(prefixes: readonly Uint8Array[]): EntryPoints {
  return (data) => {
    for (const prefix of prefixes) if (startsWith(data, prefix)) return true
    return false
  }
}

/** Entry points of a program whose data begins with a one-byte tag. */
export function tagSwaps(...tags: readonly number[]): EntryPoints {
  return (data) => data.length > 0 && tags.includes(data[0]!)
}

/** Entry points of a program whose instruction data is not published. */
export const opaqueSwaps: EntryPoints = () => 'two_mints'

/**
 * Account layout of one instruction of an order program. Numbers are positions in its account list.
 */
export interface OrderLayout {
  readonly name: string
  readonly kind: OrderAction['kind']
  readonly order: number
  readonly owner: number | null
  readonly escrows: readonly number[]
}

/** Returns the `readOrder` of an Anchor program, given the layouts of its instructions. */
export function orderReader(
  forms: readonly OrderLayout[],
): (instruction: Instruction) => OrderAction | null {
  const byDiscriminator = forms.map((form) => ({ ...form, prefix: anchorDiscriminator(form.name) }))
  return ({ data, accounts }) => {
    const form = byDiscriminator.find(({ prefix }) => startsWith(data, prefix))
    const order = form && accounts[form.order]
    if (form === undefined || order === undefined) return null
    return {
      kind: form.kind,
      order,
      owner: form.owner === null ? null : (accounts[form.owner] ?? null),
      escrows: form.escrows
        .map((index) => accounts[index])
        .filter((escrow) => escrow !== undefined),
    }
  }
}

/** Positions of a pool and its vaults in the account list of a swap instruction. */
export interface PoolLayout {
  readonly pool: number
  readonly vaults: readonly number[]
}

/**
 * Returns a `PoolReader` for account layouts, each with the bytes its instruction's data begins
 * with.
 */
export function poolReader(
  forms: readonly (PoolLayout & { readonly prefixes: readonly Uint8Array[] })[],
): PoolReader {
  return ({ data, accounts }, move) => {
    for (const { prefixes, pool, vaults } of forms) {
      if (!prefixes.some((prefix) => startsWith(data, prefix))) continue
      for (const index of vaults) {
        const vault = accounts[index]
        if (vault === undefined || (vault !== move.source && vault !== move.destination)) continue
        return accounts[pool] ?? null
      }
    }
    return null
  }
}
