import type { Malformed, Transaction } from '../domain/transaction.ts'

/** The transaction; throws what was wrong with a malformed one. */
export function aTransaction(result: Transaction | Malformed): Transaction {
  if (result.kind === 'malformed') throw new Error(`malformed: ${result.reason}`)
  return result
}
