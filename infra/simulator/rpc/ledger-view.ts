import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { RpcConfig } from './parameters.ts'
import { RpcError, RpcErrorCode } from './rpc-error.ts'

/** The slots that a node knows. */
export interface RpcWindow {
  /** The newest slot of each commitment. */
  processed(): number
  confirmed(): number
  finalized(): number
  /** The oldest slot that the node has kept. */
  first(): number
}

/** A chain as an RPC node sees it: up to a commitment, and back to its oldest slot. */
export interface LedgerView {
  readonly chain: SimulatedChain
  readonly window: RpcWindow
  /** The newest slot at the configured commitment; `finalized` by default. */
  newest(config: RpcConfig): number
  /** This slot, or the newest produced one before it. */
  lastProduced(slot: number): number
  /** The `context` of an answer. */
  context(config: RpcConfig): { readonly apiVersion: string; readonly slot: number }
  /** Throws `minContextSlotNotReached` where the configuration asks for a later slot. */
  requireContext(config: RpcConfig): void
  /** Throws where the slot is after `limit`, no longer kept or skipped. */
  blockAt(slot: number, limit: number): Block
  /** Produced slots from `start` up to `end`. */
  produced(start: number, end: number): number[]
  /** Where a transaction is, by its signature; null when it is outside the window. */
  find(signature: Uint8Array): { readonly slot: number; readonly index: number } | null
  /** The commitment that a slot has reached. */
  statusOf(slot: number): 'processed' | 'confirmed' | 'finalized'
}

/** Creates the view; errors have the texts of agave. */
export function createLedgerView(chain: SimulatedChain, window: RpcWindow): LedgerView {
  const newest = ({ commitment }: RpcConfig): number => {
    if (commitment === 'processed') return window.processed()
    return commitment === 'confirmed' ? window.confirmed() : window.finalized()
  }
  const lastProduced = (slot: number): number => {
    const isProduced = slot >= chain.firstSlot && chain.kind(slot) === 'produced'
    return isProduced ? slot : chain.parent(slot)
  }
  return {
    chain,
    window,
    newest,
    lastProduced,
    context: (config) => ({ apiVersion: '2.3.0', slot: lastProduced(newest(config)) }),
    requireContext(config) {
      const { minContextSlot } = config
      const contextSlot = lastProduced(newest(config))
      if (typeof minContextSlot !== 'number' || contextSlot >= minContextSlot) return
      throw new RpcError(
        RpcErrorCode.minContextSlotNotReached,
        'Minimum context slot has not been reached',
        { contextSlot },
      )
    },
    blockAt(slot, limit) {
      if (slot > limit) {
        const text = `Block not available for slot ${slot}`
        throw new RpcError(RpcErrorCode.blockNotAvailable, text)
      }
      const first = window.first()
      if (slot < first) {
        throw new RpcError(
          RpcErrorCode.blockCleanedUp,
          `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`,
        )
      }
      if (chain.kind(slot) !== 'produced') {
        throw new RpcError(
          RpcErrorCode.slotSkipped,
          `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
        )
      }
      return chain.block(slot)
    },
    produced(start, end) {
      const found: number[] = []
      let slot = chain.nextProduced(Math.max(start, window.first()), end)
      while (slot !== null) {
        found.push(slot)
        slot = chain.nextProduced(slot + 1, end)
      }
      return found
    },
    find(signature) {
      const place = chain.find(signature)
      const isKept =
        place !== null && place.slot >= window.first() && place.slot <= window.processed()
      return isKept ? place : null
    },
    statusOf(slot) {
      if (slot <= window.finalized()) return 'finalized'
      return slot <= window.confirmed() ? 'confirmed' : 'processed'
    },
  }
}
