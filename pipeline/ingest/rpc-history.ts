import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause, persist } from './persist.ts'
import type { RpcBlock, SolanaRpc } from './rpc.ts'
import type { IngestMetrics } from './telemetry.ts'

/** Blocks of the past over RPC, fetched until they are had: nothing later may pass before them. */
export interface RpcHistory {
  /** The newest confirmed slot. */
  tip(): Promise<number>
  /** A block; null when the chain does not have it, or when `wanted` says that nobody waits for it any more. */
  block(slot: number, wanted: () => boolean): Promise<RpcBlock | null>
  /** The blocks from `from` to `to` in order, some fetched ahead. */
  blocks(from: number, to: number): AsyncIterable<RpcBlock>
  /** Those of the `count` slots up to `slot` that the server gives; what fails is left out. */
  lastBlocks(slot: number, count: number): AsyncIterable<RpcBlock>
}

/** History through `rpc`. After `stop` is aborted every call ends with `Stopped`. */
export function createRpcHistory(
  deps: { rpc: SolanaRpc; logger: Logger; metrics: IngestMetrics },
  stop: AbortSignal,
): RpcHistory {
  const { rpc, logger, metrics } = deps

  const asking = { logger, stop }

  async function block(slot: number, wanted: () => boolean): Promise<RpcBlock | null> {
    for (let waitMs = 100; wanted(); waitMs = Math.min(waitMs * 2, 2000)) {
      const found = await persist(() => rpc.getBlock(slot), asking)
      if (found === 'absent') return null
      if (found !== 'not_yet') return found
      await pause(waitMs, stop)
    }
    return null
  }

  return {
    tip: () => persist(() => rpc.getSlot(), asking),
    async block(slot, wanted) {
      metrics.rpcBlocks.inc({ why: 'missing' })
      return block(slot, wanted)
    },
    async *blocks(from, to) {
      for (let start = from; start <= to; start += SLOTS_A_LIST) {
        const slots = await persist(
          () => rpc.getBlocks(start, Math.min(start + SLOTS_A_LIST - 1, to)),
          asking,
        )
        const ahead: Promise<RpcBlock | null>[] = []
        for (let at = 0; at < slots.length || ahead.length > 0; ) {
          while (ahead.length < BLOCKS_AHEAD && at < slots.length) {
            const fetched = block(slots[at++] ?? 0, () => true)
            fetched.catch(() => {}) // told when its turn comes
            ahead.push(fetched)
          }
          const next = await ahead.shift()
          metrics.rpcBlocks.inc({ why: 'gap' })
          if (next) yield next
        }
      }
    },
    async *lastBlocks(slot, count) {
      try {
        const slots = await rpc.getBlocks(Math.max(0, slot - count + 1), slot)
        for (const one of slots) {
          const found = await rpc.getBlock(one)
          metrics.rpcBlocks.inc({ why: 'recheck' })
          if (stop.aborted) return
          if (found !== 'absent' && found !== 'not_yet') yield found
        }
      } catch (error) {
        if (stop.aborted) return
        if (!(error instanceof ServiceError)) throw error
        logger.warn({ reason: error.message }, 'slots before the cut were not compared')
      }
    },
  }
}

const SLOTS_A_LIST = 500
/** Blocks are megabytes: few at a time. */
const BLOCKS_AHEAD = 6
