/**
 * A transaction's error as RPC writes it, such as `"AccountInUse"` or
 * `{"InstructionError":[2,{"Custom":6003}]}`.
 */
export type TransactionErrorJson = string | { readonly [variant: string]: unknown }

/**
 * Variants of `solana_transaction_error::TransactionError` in the order of their bincode numbers.
 */
export const TRANSACTION_ERRORS =
  `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound
InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound InstructionError CallChainTooDeep
MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure
ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount
WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound
InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex
InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit DuplicateInstruction
InsufficientFundsForRent MaxLoadedAccountsDataSizeExceeded InvalidLoadedAccountsDataSizeLimit ResanitizationNeeded
ProgramExecutionTemporarilyRestricted UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled`.split(
    /\s+/,
  )

/**
 * Variants of `solana_instruction::error::InstructionError` in the order of their bincode numbers.
 */
export const INSTRUCTION_ERRORS =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData
AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized
UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend
ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified
RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed
AccountBorrowOutstanding DuplicateAccountOutOfSync Custom InvalidError ExecutableDataModified
ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount
ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded
PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable
IncorrectAuthority BorshIoError AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar
IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
BuiltinProgramsMustConsumeComputeUnits`.split(/\s+/)

/** Errors that carry the index of an account. */
const WITH_ACCOUNT = new Set(['InsufficientFundsForRent', 'ProgramExecutionTemporarilyRestricted'])

/** Bincode of an error, as Yellowstone sends it. Throws a RangeError for an unknown error. */
export function encodeTransactionError(error: TransactionErrorJson): Buffer {
  const name = typeof error === 'string' ? error : Object.keys(error)[0]!
  const variant = number(TRANSACTION_ERRORS, name)
  if (typeof error === 'string') return u32(variant)
  const value = error[name]
  if (name === 'InstructionError') {
    const [index, cause] = value as [number, string | Record<string, unknown>]
    const inner = typeof cause === 'string' ? cause : Object.keys(cause)[0]!
    const parts = [u32(variant), Buffer.of(index), u32(number(INSTRUCTION_ERRORS, inner))]
    if (typeof cause !== 'string') {
      const detail = cause[inner]
      if (inner === 'Custom') parts.push(u32(Number(detail)))
      else parts.push(bincodeText(String(detail)))
    }
    return Buffer.concat(parts)
  }
  const index = WITH_ACCOUNT.has(name)
    ? (value as { account_index: number }).account_index
    : Number(value)
  return Buffer.concat([u32(variant), Buffer.of(index)])
}

/**
 * The reverse of `encodeTransactionError`. Throws a RangeError for bytes that are not an encoded
 * error.
 */
export function decodeTransactionError(bytes: Uint8Array): TransactionErrorJson {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const name = TRANSACTION_ERRORS[view.readUInt32LE(0)]
  if (name === undefined) throw new RangeError('not a transaction error')
  if (name === 'InstructionError') {
    const inner = INSTRUCTION_ERRORS[view.readUInt32LE(5)]
    if (inner === undefined) throw new RangeError('not an instruction error')
    const cause =
      inner === 'Custom'
        ? { Custom: view.readUInt32LE(9) }
        : inner === 'BorshIoError' && view.length > 9
          ? { BorshIoError: view.subarray(17).toString('utf8') }
          : inner
    return { InstructionError: [view.readUInt8(4), cause] }
  }
  if (WITH_ACCOUNT.has(name)) return { [name]: { account_index: view.readUInt8(4) } }
  return name === 'DuplicateInstruction' ? { [name]: view.readUInt8(4) } : name
}

function number(names: readonly string[], name: string): number {
  const found = names.indexOf(name)
  if (found < 0) throw new RangeError(`not a transaction error: ${name}`)
  return found
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function bincodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.length))
  return Buffer.concat([length, bytes])
}
