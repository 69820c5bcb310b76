import type { Malformed, Transaction } from '../domain/transaction.ts'

/** Returns the transaction. Throws the reason if it is malformed. */
export function aTransaction(result: Transaction | Malformed): Transaction {
  if (result.kind === 'malformed') throw new Error(`malformed: ${result.reason}`)
  return result
}
