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

/**
 * A chain as an RPC node sees it: up to a commitment, and back to its oldest slot. Errors have the
 * texts of agave.
 */
export class LedgerView {
  readonly chain: SimulatedChain
  readonly window: RpcWindow

  constructor(chain: SimulatedChain, window: RpcWindow) {
    this.chain = chain
    this.window = window
  }

  /** The newest slot at the configured commitment; `finalized` by default. */
  newest({ commitment }: RpcConfig): number {
    if (commitment === 'processed') return this.window.processed()
    return commitment === 'confirmed' ? this.window.confirmed() : this.window.finalized()
  }

  /** The newest produced slot at the configured commitment. */
  tip(config: RpcConfig): number {
    const slot = this.newest(config)
    const isProduced = slot >= this.chain.firstSlot && this.chain.kind(slot) === 'produced'
    return isProduced ? slot : this.chain.parent(slot)
  }

  /** The `context` of a response. */
  context(config: RpcConfig): { readonly apiVersion: string; readonly slot: number } {
    return { apiVersion: '2.3.0', slot: this.tip(config) }
  }

  /** Throws `minContextSlotNotReached` where the configuration asks for a later slot. */
  requireContext(config: RpcConfig): void {
    const { minContextSlot } = config
    const contextSlot = this.tip(config)
    if (typeof minContextSlot !== 'number' || contextSlot >= minContextSlot) return
    const text = 'Minimum context slot has not been reached'
    throw new RpcError(RpcErrorCode.minContextSlotNotReached, text, { contextSlot })
  }

  /** Throws where the slot is after `limit`, no longer kept or skipped. */
  blockAt(slot: number, limit: number): Block {
    const first = this.window.first()
    if (slot > limit) {
      const text = `Block not available for slot ${slot}`
      throw new RpcError(RpcErrorCode.blockNotAvailable, text)
    }
    if (slot < first) {
      const text = `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`
      throw new RpcError(RpcErrorCode.blockCleanedUp, text)
    }
    if (this.chain.kind(slot) !== 'produced') {
      const text = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`
      throw new RpcError(RpcErrorCode.slotSkipped, text)
    }
    return this.chain.block(slot)
  }

  /** Produced slots from `start` up to `end`. */
  produced(start: number, end: number): number[] {
    const found: number[] = []
    let slot = this.chain.nextProduced(Math.max(start, this.window.first()), end)
    while (slot !== null) {
      found.push(slot)
      slot = this.chain.nextProduced(slot + 1, end)
    }
    return found
  }

  /** Position of a transaction by its signature; null when it is outside the window. */
  find(signature: Uint8Array): { readonly slot: number; readonly index: number } | null {
    const place = this.chain.find(signature)
    const isKept =
      place !== null && place.slot >= this.window.first() && place.slot <= this.window.processed()
    return isKept ? place : null
  }

  /** The commitment that a slot has reached. */
  statusOf(slot: number): 'processed' | 'confirmed' | 'finalized' {
    if (slot <= this.window.finalized()) return 'finalized'
    return slot <= this.window.confirmed() ? 'confirmed' : 'processed'
  }
}
