import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../domain/service-error.ts'
import type { HistoryRpc, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import type { CoverageStart } from '../../store/tables/wallet-coverage.ts'

/**
 * Relates slots to the times of their blocks, by RPC. Every call rejects with what RPC rejects
 * with.
 */
export interface SlotTimes {
  /**
   * Returns the newest finalized slot, once that is at least `least`; rejects with `unavailable`
   * after 30 s.
   */
  finalizedSlot(least: number): Promise<number>
  /**
   * Returns a slot with the time of its block or of the next one; of now when the server has
   * neither.
   */
  withTime(slot: number): Promise<CoverageStart>
  /**
   * Returns the first slot whose block is of this unix second or later; the newest plus 1 if none
   * is.
   */
  slotAt(time: number): Promise<number>
}

/** Slots in which the next block is looked for. */
const NEXT_BLOCK_WITHIN = 200
/** Number of retries, and their pause, while a slot is not final: 13 s, and the server's lag. */
const BEHIND_TRIES = 60
const BEHIND_PAUSE_MS = 500

/** Creates slot times over an RPC server. */
export function createSlotTimes(
  rpc: Pick<
    HistoryRpc & SolanaRpc,
    'getSlot' | 'getBlocks' | 'getBlockTime' | 'getFirstAvailableBlock'
  >,
): SlotTimes {
  /** Slots with a block; null when the server no longer knows. */
  async function blocksFrom(from: number, to: number): Promise<readonly number[] | null> {
    return rpc.getBlocks(from, to).catch((error: unknown) => {
      if (error instanceof ServiceError && !error.retriable) return null
      throw error
    })
  }
  return {
    async finalizedSlot(least) {
      for (let tries = 1; ; tries++) {
        const slot = await rpc.getSlot('finalized')
        if (slot >= least) return slot
        if (tries === BEHIND_TRIES)
          throw new ServiceError('unavailable', 'SOLANA_RPC_URL: the server is behind the stream')
        await delay(BEHIND_PAUSE_MS)
      }
    },
    async withTime(slot) {
      const blocks = await blocksFrom(slot, slot + NEXT_BLOCK_WITHIN)
      const time = blocks?.[0] === undefined ? null : await rpc.getBlockTime(blocks[0])
      return { slot, time: time ?? Math.floor(Date.now() / 1000) }
    },
    async slotAt(time) {
      let low = (await rpc.getFirstAvailableBlock()) ?? 0
      let high = (await rpc.getSlot()) + 1
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const blocks = await blocksFrom(middle, Math.min(high, middle + NEXT_BLOCK_WITHIN))
        const block = blocks?.find((slot) => slot < high)
        const blockTime = block === undefined ? null : await rpc.getBlockTime(block)
        if (blocks !== null && block === undefined) high = middle
        else if (blockTime !== null && blockTime >= time) high = middle
        else low = (block ?? middle) + 1 // a block that the server no longer has is older
      }
      return low
    },
  }
}
