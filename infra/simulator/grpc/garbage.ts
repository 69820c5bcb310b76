import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Random } from '../random.ts'
import { type StreamTransactionUpdate, type StreamUpdate, transactionUpdate } from './updates.ts'

/**
 * Updates that look like transactions of the same wallets as `sample` but cannot be decoded:
 * instructions that name missing accounts and programs, no meta, no message, truncated bytes. Their
 * signatures are unique, and their indexes follow those of the block.
 */
export function garbageUpdates(
  slot: number,
  sample: StreamTransactionUpdate,
  blockLength: number,
  random: Random,
): StreamUpdate[] {
  const count = 1 + random.below(2)
  return Array.from({ length: count }, (_, position) => {
    const broken = random.pick(BREAKS)(sample.info, random)
    const signature = Buffer.from(sample.info.signature)
    signature.writeUInt32LE(random.uint32(), 20)
    signature.writeUInt32LE(random.uint32(), 40)
    const transaction = broken.transaction && { ...broken.transaction, signatures: [signature] }
    const index = String(blockLength + position)
    const update = transactionUpdate(slot, { ...broken, signature, transaction, index })
    // Filters must match the keys of the sample, which the broken transaction may lack.
    return { kind: 'transaction', slot, info: update.info, body: update.body, keys: sample.keys }
  })
}

type Break = (
  info: SubscribeUpdateTransactionInfo,
  random: Random,
) => SubscribeUpdateTransactionInfo

const BREAKS: readonly Break[] = [
  (info) => ({ ...info, meta: undefined }),
  (info) => ({ ...info, transaction: undefined }),
  (info) =>
    info.transaction === undefined
      ? info
      : { ...info, transaction: { ...info.transaction, message: undefined } },
  (info, random) =>
    withInstructions(info, (instruction) => ({
      ...instruction,
      programIdIndex: 200 + random.below(50),
    })),
  (info, random) =>
    withInstructions(info, (instruction) => ({
      ...instruction,
      accounts: Uint8Array.from({ length: 12 }, () => 180 + random.below(70)),
    })),
  (info) => {
    const message = info.transaction?.message
    if (info.transaction === undefined || message === undefined) return info
    // Truncated instructions would leave the inner ones intact, which are a trade that can be
    // decoded.
    const accountKeys = message.accountKeys.map((key) => key.subarray(0, 31))
    return { ...info, transaction: { ...info.transaction, message: { ...message, accountKeys } } }
  },
  (info) =>
    info.meta === undefined
      ? info
      : { ...info, meta: { ...info.meta, preBalances: [], postBalances: [] } },
]

type Instruction = NonNullable<
  NonNullable<SubscribeUpdateTransactionInfo['transaction']>['message']
>['instructions'][number]

function withInstructions(
  info: SubscribeUpdateTransactionInfo,
  change: (instruction: Instruction) => Instruction,
): SubscribeUpdateTransactionInfo {
  const message = info.transaction?.message
  if (info.transaction === undefined || message === undefined) return info
  const instructions = message.instructions.map(change)
  return { ...info, transaction: { ...info.transaction, message: { ...message, instructions } } }
}
