import type { LoggedRecord } from './flush.ts'

/** Key of a record within a flush. */
export function recordKey({ record }: Pick<LoggedRecord, 'record'>): string {
  const { kind, wallet, slot, txIndex } = record
  if (kind === 'kept') return `kept:${slot}/${txIndex}` // two wallets may have brought it
  if (kind === 'token_link') return `${kind}:${record.account}/${wallet}/${slot}/${txIndex}`
  if (kind === 'balance' || kind === 'undecoded') return `${kind}:${wallet}/${slot}/${txIndex}`
  return `event:${wallet}/${slot}/${txIndex}/${record.eventIndex}`
}
