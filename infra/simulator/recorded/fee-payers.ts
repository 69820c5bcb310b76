import bs58 from 'bs58'
import { PROGRAMS } from '../../../pipeline/decode/registry.ts'
import type { Address } from '../../../pipeline/domain/address.ts'
import { accountKeysOf } from '../block.ts'
import { keyId } from '../market/key.ts'
import type { RecordedBlock } from './load.ts'

/**
 * The first `limit` distinct fee payers of successful transactions that call a venue, router or
 * order program, in block order.
 */
export function feePayersOfTrades(blocks: readonly RecordedBlock[], limit: number): Address[] {
  const traded = new Set(
    PROGRAMS.filter(({ kind }) => kind !== 'not_trading').map(({ id }) => keyId(bs58.decode(id))),
  )
  const found = new Set<Address>()
  for (const info of blocks.flatMap((block) => block.transactions)) {
    const message = info.transaction?.message
    const meta = info.meta
    if (message === undefined || meta === undefined || meta.err !== undefined) continue
    const keys = accountKeysOf(info)
    const called = [
      ...message.instructions,
      ...meta.innerInstructions.flatMap((inner) => inner.instructions),
    ]
    const trades = called.some(({ programIdIndex }) => traded.has(keyId(keys[programIdIndex]!)))
    if (trades) found.add(bs58.encode(keys[0]!) as Address)
    if (found.size === limit) break
  }
  return [...found]
}
