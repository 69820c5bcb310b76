import { type Address, addressBytes, addressFromBytes } from '../domain/address.ts'
import type { Transaction } from '../domain/transaction.ts'
import { sameBytes } from './bytes.ts'
import { INFRASTRUCTURE_PROGRAMS } from './infrastructure-programs.ts'
import type { Move } from './move.ts'
import { readTokenInstruction, type TokenInstruction } from './token-program.ts'
import { settleTransferFees } from './transfer-fees.ts'

/** Terms of a payment to the service: the mint and the receiving addresses. */
export interface PaymentTerms {
  readonly mint: Address
  /** Payment addresses: owners of token accounts, associated or not. */
  readonly owners: readonly Address[]
}

/**
 * Amount that one wallet paid to one payment address in one transaction, summed over all
 * instructions (rule E5).
 */
export interface PaidDeposit {
  readonly owner: Address
  /** Owner of the token accounts that the tokens came from. The signer may be another account. */
  readonly wallet: Address
  /** Raw units that arrived, after the mint's transfer fee. Above zero. */
  readonly amount: bigint
}

/**
 * Returns the deposits of a transaction, one for each pair of wallet and payment address.
 *
 * Counts transfers at any depth, of either token program. Ownership is taken at the moment of each
 * transfer. What the payment address sends back to the wallet in the same transaction is
 * subtracted. Failed transactions, other mints, freshly minted tokens, and moves between accounts
 * of the payment address count for nothing.
 *
 * Pure: never throws, whatever the data.
 */
export function readDeposits(tx: Transaction, terms: PaymentTerms): PaidDeposit[] {
  const { mint, owners } = terms
  if (tx.failed || !owners.some((owner) => tx.tokenOwners.includes(owner))) return []
  const accounts = new TokenAccounts(tx, mint)
  const transfers: { readonly move: Move; readonly from: Address; readonly to: Address }[] = []
  const moves: Move[] = []
  let isToken2022 = false
  tx.instructions.forEach(({ programIndex, accounts: indexes, data }, at) => {
    const program = TOKEN_PROGRAMS.find(({ key }) => sameBytes(key, tx.accountKeys[programIndex]!))
    if (program === undefined) return
    readTokenInstruction(indexes, data, (instruction) => {
      const move = moveOf(at, instruction, accounts)
      if (move !== null) {
        moves.push(move)
        isToken2022 ||= program.token2022
        const [from, to] = [accounts.owner(move.source), accounts.owner(move.destination)]
        if (move.kind === 'token' && from !== null && to !== null)
          transfers.push({ move, from, to })
      }
      accounts.apply(instruction)
    })
  })
  if (isToken2022) settleTransferFees(tx, moves, [MINT])
  return sumUp(transfers, owners)
}

/** Mint number of the one mint of interest. */
const MINT = 0

const TOKEN_PROGRAMS = INFRASTRUCTURE_PROGRAMS.flatMap((program) =>
  program.kind === 'token' ? [{ key: addressBytes(program.id), token2022: program.token2022 }] : [],
)

function sumUp(
  transfers: readonly { readonly move: Move; readonly from: Address; readonly to: Address }[],
  owners: readonly Address[],
): PaidDeposit[] {
  const sums = new Map<string, { owner: Address; wallet: Address; amount: bigint }>()
  const add = (owner: Address, wallet: Address, amount: bigint) => {
    const key = `${owner} ${wallet}`
    const sum = sums.get(key) ?? { owner, wallet, amount: 0n }
    sum.amount += amount
    sums.set(key, sum)
  }
  for (const { move, from, to } of transfers) {
    if (from === to) continue
    if (owners.includes(to)) add(to, from, move.received)
    if (owners.includes(from)) add(from, to, -move.sent)
  }
  return [...sums.values()].filter(({ amount }) => amount > 0n)
}

/** The move that an instruction makes of the mint; null if it makes none. */
function moveOf(at: number, instruction: TokenInstruction, accounts: TokenAccounts): Move | null {
  const move = (kind: 'token' | 'mint' | 'burn', from: number, to: number, fee: bigint): Move => ({
    at,
    kind,
    mint: MINT,
    source: from,
    destination: to,
    from: 0,
    to: 0,
    sent: amount,
    received: fee > amount ? 0n : amount - fee,
    ontoCreated: false,
  })
  const amount = 'amount' in instruction ? (instruction.amount ?? 0n) : 0n
  switch (instruction.kind) {
    case 'transfer': {
      const { source, destination, fee } = instruction
      if (source === destination) return null
      if (!accounts.isOfMint(source) || !accounts.isOfMint(destination)) return null
      return move('token', source, destination, fee ?? 0n)
    }
    case 'mint':
      return accounts.isOfMint(instruction.account)
        ? move('mint', -1, instruction.account, 0n)
        : null
    case 'burn':
      return accounts.isOfMint(instruction.account)
        ? move('burn', instruction.account, -1, 0n)
        : null
    default:
      return null
  }
}

/** Current owners of the token accounts of one mint, by index in `accountKeys`. */
class TokenAccounts {
  readonly #tx: Transaction
  readonly #mintKey: Uint8Array
  /** The owner is null when the balance names none. */
  readonly #owners = new Map<number, Address | null>()

  /**
   * Initialises the owners to those before the first instruction. An account that is opened later
   * starts with its final owner.
   */
  constructor(tx: Transaction, mint: Address) {
    this.#tx = tx
    this.#mintKey = addressBytes(mint)
    for (const balances of [tx.postTokenBalances, tx.preTokenBalances]) {
      for (const { accountIndex, mint: held, owner } of balances) {
        if (held === mint) this.#owners.set(accountIndex, owner)
        else this.#owners.delete(accountIndex)
      }
    }
  }

  isOfMint(account: number): boolean {
    return this.#owners.has(account)
  }

  owner(account: number): Address | null {
    return this.#owners.get(account) ?? null
  }

  apply(instruction: TokenInstruction): void {
    const { accountKeys } = this.#tx
    switch (instruction.kind) {
      case 'initialize_account': {
        const mint = accountKeys[instruction.mint]
        if (mint === undefined || !sameBytes(mint, this.#mintKey))
          this.#owners.delete(instruction.account)
        else this.#setOwner(instruction.account, instruction.owner)
        return
      }
      case 'set_owner':
        if (this.#owners.has(instruction.account))
          this.#setOwner(instruction.account, instruction.owner)
        return
      case 'close':
        this.#owners.delete(instruction.account)
    }
  }

  #setOwner(account: number, owner: number | Uint8Array): void {
    const key = typeof owner === 'number' ? this.#tx.accountKeys[owner] : owner
    if (key !== undefined) this.#owners.set(account, addressFromBytes(key))
  }
}
