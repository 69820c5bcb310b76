import { createHash } from 'node:crypto'
import type { Address } from '../domain/address.ts'
import type { Instruction } from '../domain/transaction.ts'
import { startsWith } from './bytes.ts'

/** What a program of the table in rules of section H is. */
export type ProgramKind = 'venue' | 'router' | 'order' | 'not_trading'

/** One program that the decoder knows: a file in `venues/` each. */
export interface Program {
  /** The name that is served (rules of section H). */
  readonly name: string
  readonly id: Address
  readonly kind: ProgramKind
  /** Which of its instructions are swap entry points (rule B4). Programs that are not traded on have none. */
  readonly isSwap?: EntryPoints
  /** Lamports that a swap puts on an account without any transfer instruction (rule B5). */
  readonly readCredit?: (call: Call) => Credit | null
  /** The pool whose vault a move inside one of its swaps came out of or went into, as an index in `accountKeys`; null when it is none of theirs. */
  readonly poolOf?: PoolReader
  /** What an order program's instructions do to orders (rule B2a). */
  readonly readOrder?: (instruction: Instruction) => OrderStep | null
}

/**
 * Whether an instruction is a swap entry point: by its data and number of accounts, or, where the data does not tell (nobody has published it, or an order may rest),
 * by what moves: `two_mints`, if the instruction and what it calls move two mints; `two_mints_around`, if its whole top-level instruction does.
 */
export type EntryPoints = (
  data: Uint8Array,
  accounts: Uint8Array,
) => boolean | 'two_mints' | 'two_mints_around'

/** Finds the pool behind a move of tokens inside a swap instruction of a program: see `Program.poolOf`. */
export type PoolReader = (
  instruction: Instruction,
  move: { readonly source: number; readonly destination: number },
) => number | null

/** An instruction with what it called: `instructions[at]`, then those before `end`. */
export interface Call {
  readonly accountKeys: readonly Uint8Array[]
  readonly instructions: readonly Instruction[]
  readonly at: number
  readonly end: number
}

/** Lamports credited directly. All accounts are indexes in `accountKeys`. */
export interface Credit {
  readonly source: number
  readonly destination: number
  /** What the destination got, or null when the venue did not say: then it is what the balance shows, shared by `weight`. */
  readonly lamports: bigint | null
  readonly weight: bigint
}

/** An order program's instruction on one order. All accounts are indexes in `accountKeys`. */
export interface OrderStep {
  /** `take` and `settle` are the two ends of a flash fill; `fill` is both at once; `other` places, cancels, withdraws. */
  readonly kind: 'take' | 'settle' | 'fill' | 'other'
  readonly order: number
  /** The order's owner, when the instruction names him. */
  readonly owner: number | null
  /** Token accounts that hold what belongs to the order. */
  readonly escrows: readonly number[]
}

/** The first eight bytes of an Anchor instruction's data: sha256("global:<name>"), name in snake case. */
export function anchorDiscriminator(name: string): Uint8Array {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
}

/** The first eight bytes of an Anchor event: sha256("event:<Name>"). */
export function anchorEvent(name: string): Uint8Array {
  return createHash('sha256').update(`event:${name}`).digest().subarray(0, 8)
}

/** What begins the data of an event that an Anchor program emits by calling itself: sha256("anchor:event") backwards. */
export const ANCHOR_EVENT_CALL = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d)

/** Entry points of an Anchor program, by instruction name. */
export function anchorSwaps(...names: readonly string[]): EntryPoints {
  return discriminatorSwaps(names.map(anchorDiscriminator))
}

/** Entry points by the first bytes of the data. */
export function discriminatorSwaps(prefixes: readonly Uint8Array[]): EntryPoints {
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

/** One instruction of an order program: which of its accounts are what, by place. */
export interface OrderForm {
  readonly name: string
  readonly kind: OrderStep['kind']
  readonly order: number
  readonly owner: number | null
  readonly escrows: readonly number[]
}

/** Reads the orders of an Anchor program by its instruction forms. */
export function orderReader(
  forms: readonly OrderForm[],
): (instruction: Instruction) => OrderStep | null {
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
        .map((place) => accounts[place])
        .filter((escrow) => escrow !== undefined),
    }
  }
}

/** Where a swap instruction names a pool and the pool's vaults: places in its list of accounts. */
export interface PoolForm {
  readonly pool: number
  readonly vaults: readonly number[]
}

/** Reads pools by the forms of instructions, each with what its data begins with. */
export function poolReader(
  forms: readonly (PoolForm & { readonly prefixes: readonly Uint8Array[] })[],
): PoolReader {
  return ({ data, accounts }, move) => {
    for (const { prefixes, pool, vaults } of forms) {
      if (!prefixes.some((prefix) => startsWith(data, prefix))) continue
      for (const place of vaults) {
        const vault = accounts[place]
        if (vault === undefined || (vault !== move.source && vault !== move.destination)) continue
        return accounts[pool] ?? null
      }
    }
    return null
  }
}
