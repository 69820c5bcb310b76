import type { BlockSignatures, HistoryRpc } from './rpc.ts'

/** Where transactions stand in their blocks, which RPC does not tell with the transaction (rules of section A: `tx_index`). */
export interface BlockPlaces {
  /** Index of a transaction in its block, and the block's time; null when the server no longer has the block. */
  of(
    slot: number,
    signature: string,
  ): Promise<{ readonly index: number; readonly blockTime: number | null } | null>
}

interface Entry {
  readonly asked: Promise<BlockSignatures | 'absent' | 'not_yet'>
  /** How many signatures are held; 0 until they came. */
  size: number
}

/** Asks for the signatures of a block once as long as it is among the last ones; `most` signatures are kept in all, 100 bytes each. */
export function createBlockPlaces(
  rpc: Pick<HistoryRpc, 'getBlockSignatures'>,
  most = 200_000,
): BlockPlaces {
  const blocks = new Map<number, Entry>()
  let held = 0

  function ask(slot: number): Entry {
    const entry: Entry = { asked: rpc.getBlockSignatures(slot), size: 0 }
    blocks.set(slot, entry)
    entry.asked.then(
      (block) => {
        if (typeof block === 'string') blocks.delete(slot)
        else if (blocks.get(slot) === entry) {
          entry.size = block.signatures.length
          held += entry.size
          trim()
        }
      },
      () => blocks.delete(slot),
    )
    return entry
  }

  /** What was asked for longest ago goes first. */
  function trim(): void {
    for (const [slot, { size }] of blocks) {
      if (held <= most) return
      blocks.delete(slot)
      held -= size
    }
  }

  return {
    async of(slot, signature) {
      const block = await (blocks.get(slot) ?? ask(slot)).asked
      if (typeof block === 'string') return null
      const index = block.signatures.indexOf(signature)
      return index < 0 ? null : { index, blockTime: block.blockTime }
    },
  }
}
