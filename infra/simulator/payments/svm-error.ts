import type { FailedTransactionMetadata } from 'litesvm'
import type { TransactionErrorJson } from '../rpc/transaction-error.ts'

/** The error of a failed transaction as RPC writes it. */
export function errorJson(failed: FailedTransactionMetadata): TransactionErrorJson {
  const error = failed.err()
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? 'SanitizeFailure'
  if (!('err' in error)) return 'SanitizeFailure' // rent, duplicate instructions: no test needs to tell them apart
  const cause = error.err()
  if (typeof cause === 'number')
    return { InstructionError: [error.index, INSTRUCTION_ERRORS[cause] ?? 'GenericError'] }
  if ('code' in cause) return { InstructionError: [error.index, { Custom: cause.code }] }
  return { InstructionError: [error.index, 'GenericError'] }
}

/**
 * `TransactionErrorFieldless` of litesvm 1.5 (`internal.d.ts`), by number; its enums do not exist
 * at run time.
 */
const TRANSACTION_ERRORS = `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound
InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep
MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure`.split(
  /\s+/,
)

/** The commonest variants of `InstructionErrorFieldless`, by number. */
const INSTRUCTION_ERRORS =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall
InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount`.split(
    /\s+/,
  )
