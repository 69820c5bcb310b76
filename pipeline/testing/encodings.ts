import type { Malformed, TokenBalance, Transaction } from '../domain/transaction.ts'

export { asVersion1 } from '../../infra/corpus/as-version-1.ts'
export { readByEveryPath } from '../../infra/corpus/paths.ts'
export { toBase64Json } from '../../infra/corpus/to-base64-json.ts'
export { toGrpcUpdate } from '../../infra/corpus/to-grpc-update.ts'
export { version1Differences } from '../../infra/corpus/version-1.ts'

/** Returns all fields of a transaction as plain values, including lazily built ones. */
export function plain(value: Transaction | Malformed) {
  if (value.kind === 'malformed') return value
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const balance = ({ accountIndex, mint, owner, amount, decimals }: TokenBalance) => ({
    accountIndex,
    mint,
    owner,
    amount,
    decimals,
  })
  const { slot, index, failed, signerCount, fee, innerKept, logs, tokenOwners } = value
  return {
    slot,
    index,
    signature: hex(value.signature),
    failed,
    signerCount,
    fee,
    innerKept,
    logs,
    tokenOwners,
    accountKeys: value.accountKeys.map(hex),
    before: value.accountKeys.map((_, i) => value.lamportsBefore(i)),
    after: value.accountKeys.map((_, i) => value.lamportsAfter(i)),
    preTokenBalances: value.preTokenBalances.map(balance),
    postTokenBalances: value.postTokenBalances.map(balance),
    instructions: value.instructions.map(({ programIndex, accounts, data, stackHeight }) => ({
      programIndex,
      accounts: hex(accounts),
      data: hex(data),
      stackHeight,
    })),
  }
}
