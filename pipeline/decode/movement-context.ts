import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import type { NamedWallets } from './named-wallets.ts'
import type { OrderActivity } from './orders.ts'
import type { DirectCredit } from './program.ts'
import type { SystemInstruction } from './system-program.ts'
import type { TokenInstruction } from './token-program.ts'

/** A decoded instruction of the System program or a token program. `at` is its index. */
export type AssetInstruction = { readonly at: number } & (
  | { readonly program: 'system'; readonly instruction: SystemInstruction }
  | {
      readonly program: 'token'
      readonly instruction: TokenInstruction
      readonly token2022: boolean
    }
)

/** The inputs from which `Movements` is computed. */
export interface MovementContext {
  readonly tx: Transaction
  readonly wallets: Wallets
  readonly named: NamedWallets
  readonly orders: OrderActivity
  /** Instructions in order of execution. */
  readonly instructions: readonly AssetInstruction[]
  /** Direct credits, by the index of the venue's instruction. */
  readonly credits: ReadonlyMap<number, DirectCredit>
}
