import { type Address, addressFromBytes } from '../../domain/address.ts'
import type {
  Instruction,
  Malformed,
  MalformedTransactionReason,
  TokenBalance,
  Transaction,
} from '../../domain/transaction.ts'
import { encodeTransactionInfo } from './encode-transaction-info.ts'
import { heightsFromLogs, listInstructions } from './instruction-list.ts'
import type {
  GrpcTransactionUpdate,
  InstructionUpdate,
  MessageUpdate,
  MetaUpdate,
  TokenBalanceUpdate,
} from './transaction-update.ts'

/**
 * The transaction of a Yellowstone update. Checks every field; converts lists to domain types on
 * first access. Never throws. Source: `geyser.proto` and `solana-storage.proto` of
 * `@triton-one/yellowstone-grpc` 7.0.1.
 */
export function normalizeGrpc(update: GrpcTransactionUpdate): Transaction | Malformed {
  const info = update.transaction
  const slot = Number(update.slot)
  const index = Number(info?.index)
  const signature = info?.signature
  const malformed = (reason: MalformedTransactionReason): Malformed => ({
    kind: 'malformed',
    slot: Number.isSafeInteger(slot) ? slot : null,
    index: Number.isSafeInteger(index) ? index : null,
    signature: signature?.length === 64 ? signature : null,
    reason,
  })

  const message = info?.transaction?.message
  if (message?.header === undefined || signature === undefined)
    return malformed('not_a_transaction')
  if (signature.length !== 64) return malformed('bad_signature')
  if (!Number.isSafeInteger(slot) || slot < 0) return malformed('bad_place')
  if (!Number.isSafeInteger(index) || index < 0) return malformed('bad_place')
  const meta = info?.meta
  if (meta === undefined) return malformed('no_meta')

  const { loadedWritableAddresses, loadedReadonlyAddresses } = meta
  const keys =
    loadedWritableAddresses.length + loadedReadonlyAddresses.length === 0
      ? message.accountKeys
      : message.accountKeys.concat(loadedWritableAddresses, loadedReadonlyAddresses)
  const signers = message.header.numRequiredSignatures
  if (!areKeys(keys)) return malformed('bad_account_keys')
  if (signers < 1 || signers > message.accountKeys.length) return malformed('bad_account_keys')
  // Lamports are u64 fields, which need no check. A token amount is text from the node.
  if (meta.preBalances.length !== keys.length) return malformed('bad_balances')
  if (meta.postBalances.length !== keys.length) return malformed('bad_balances')
  if (!areTokenBalances(meta.preTokenBalances, keys.length)) return malformed('bad_token_balance')
  if (!areTokenBalances(meta.postTokenBalances, keys.length)) return malformed('bad_token_balance')
  if (!areInstructions(message.instructions, keys.length)) return malformed('bad_instruction')
  for (const group of meta.innerInstructions) {
    if (group.index >= message.instructions.length) return malformed('bad_instruction')
    if (!areInstructions(group.instructions, keys.length)) return malformed('bad_instruction')
  }
  return new UpdateTransaction(slot, index, signature, keys, message, meta, info?.encoded)
}

/**
 * A transaction whose fields `normalizeGrpc` has checked. Lists are converted once, on first
 * access.
 */
class UpdateTransaction implements Transaction {
  readonly kind = 'transaction'
  readonly slot: number
  readonly index: number
  readonly signature: Uint8Array
  readonly failed: boolean
  readonly accountKeys: readonly Uint8Array[]
  readonly signerCount: number
  readonly innerKept: boolean
  private readonly message: MessageUpdate
  private readonly meta: MetaUpdate
  private readonly source: Uint8Array | undefined
  private tokensBefore: TokenBalance[] | undefined
  private tokensAfter: TokenBalance[] | undefined
  private list: Instruction[] | undefined

  constructor(
    slot: number,
    index: number,
    signature: Uint8Array,
    keys: readonly Uint8Array[],
    message: MessageUpdate,
    meta: MetaUpdate,
    source: Uint8Array | undefined,
  ) {
    this.slot = slot
    this.index = index
    this.signature = signature
    this.failed = meta.err !== undefined
    this.accountKeys = keys
    this.signerCount = message.header?.numRequiredSignatures ?? 1
    this.innerKept = !meta.innerInstructionsNone
    this.message = message
    this.meta = meta
    this.source = source
  }

  get fee(): bigint {
    return BigInt(this.meta.fee)
  }
  lamportsBefore(account: number): bigint {
    return BigInt(this.meta.preBalances[account]!)
  }
  lamportsAfter(account: number): bigint {
    return BigInt(this.meta.postBalances[account]!)
  }
  get tokenOwners(): readonly string[] {
    const owners: string[] = []
    for (const { owner } of this.meta.preTokenBalances) if (owner !== '') owners.push(owner)
    for (const { owner } of this.meta.postTokenBalances) if (owner !== '') owners.push(owner)
    return owners
  }
  get preTokenBalances(): readonly TokenBalance[] {
    this.tokensBefore ??= this.meta.preTokenBalances.map((b) => new UpdateTokenBalance(b))
    return this.tokensBefore
  }
  get postTokenBalances(): readonly TokenBalance[] {
    this.tokensAfter ??= this.meta.postTokenBalances.map((b) => new UpdateTokenBalance(b))
    return this.tokensAfter
  }
  get instructions(): readonly Instruction[] {
    this.list ??= instructionsOf(this.message, this.meta, this)
    return this.list
  }
  get logs(): readonly string[] | null {
    return this.meta.logMessagesNone ? null : this.meta.logMessages
  }
  encoded(): Uint8Array {
    // A copy, because the source is a view that would keep a whole network buffer in memory.
    return this.source === undefined ? encodeTransactionInfo(this) : new Uint8Array(this.source)
  }
}

/** A token balance. Its amount is parsed on access, because most amounts are never read. */
class UpdateTokenBalance implements TokenBalance {
  readonly accountIndex: number
  // The validator encodes base58 itself. Addresses are only compared or copied as text.
  readonly mint: Address
  readonly owner: Address | null
  readonly decimals: number
  private readonly text: string

  constructor({ accountIndex, mint, owner, uiTokenAmount }: TokenBalanceUpdate) {
    this.accountIndex = accountIndex
    this.mint = mint as Address
    this.owner = owner === '' ? null : (owner as Address)
    this.decimals = uiTokenAmount?.decimals ?? 0
    this.text = uiTokenAmount?.amount ?? '0'
  }

  get amount(): bigint {
    return BigInt(this.text)
  }
}

function instructionsOf(message: MessageUpdate, meta: MetaUpdate, tx: Transaction): Instruction[] {
  const top = message.instructions.map((instruction) => instructionOf(instruction, 1))
  const groups = meta.innerInstructions.map((group) => ({
    index: group.index,
    instructions: group.instructions.map((inner) => instructionOf(inner, inner.stackHeight ?? 2)),
  }))
  const list = listInstructions(top, groups)
  const hasHeights = meta.innerInstructions.every((group) =>
    group.instructions.every((inner) => inner.stackHeight !== undefined),
  )
  if (hasHeights) return list
  return heightsFromLogs(list, tx.logs, ({ programIndex }) =>
    addressFromBytes(tx.accountKeys[programIndex]!),
  )
}

function instructionOf(from: InstructionUpdate, stackHeight: number): Instruction {
  return {
    programIndex: from.programIdIndex,
    accounts: from.accounts,
    data: from.data,
    stackHeight,
  }
}

function areKeys(keys: readonly Uint8Array[]): boolean {
  for (let i = 0; i < keys.length; i++) if (keys[i]!.length !== 32) return false
  return keys.length <= 256
}

function areTokenBalances(balances: readonly TokenBalanceUpdate[], keyCount: number): boolean {
  for (let i = 0; i < balances.length; i++) {
    const { accountIndex, uiTokenAmount, mint, owner } = balances[i]!
    if (accountIndex >= keyCount || uiTokenAmount === undefined) return false
    if (uiTokenAmount.decimals > 255 || !isInteger(uiTokenAmount.amount)) return false
    if (!isAddressText(mint) || (owner !== '' && !isAddressText(owner))) return false
  }
  return true
}

function areInstructions(instructions: readonly InstructionUpdate[], keyCount: number): boolean {
  for (let i = 0; i < instructions.length; i++) {
    const { programIdIndex, accounts } = instructions[i]!
    if (programIdIndex >= keyCount) return false
    for (let j = 0; j < accounts.length; j++) if (accounts[j]! >= keyCount) return false
  }
  return true
}

/** Whether text has the form of a decimal u64. Far cheaper than parsing a bigint. */
function isInteger(text: string): boolean {
  if (text.length === 0 || text.length > 20) return false
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return false
  }
  return true
}

/** Whether text has the length of 32 bytes in base58. Letters do not matter for comparing. */
function isAddressText(text: string): boolean {
  return text.length >= 32 && text.length <= 44
}
