import { setMaxListeners } from 'node:events'
import pMap, { pMapIterable } from 'p-map'
import type { Logger } from '../../runtime/logger.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { type Refusals, RpcRefusedError } from './refusals.ts'
import { pauseUnlessStopped, retryUntilStopped } from './retry-until-stopped.ts'
import type { BlockHead, RpcBlock, SolanaRpc } from './solana-rpc.ts'

/**
 * Past blocks over RPC. Failing requests are retried without end, refused ones for as long as the
 * `refusals` allow: then a call rejects with `RpcRefusedError`, or leaves the block out.
 */
export interface RpcHistory {
  /** The newest confirmed slot. */
  tip(): Promise<number>
  /**
   * A block. Null when the chain has none, or once `isWanted` returns false. `refused`: the server
   * does not give it, though it is past its slot.
   */
  block(slot: number, isWanted: () => boolean): Promise<RpcBlock | null | 'refused'>
  /** The blocks of slots `from`..`to`, in order, without refused ones. Some are fetched ahead. */
  blocks(from: number, to: number): AsyncIterable<RpcBlock>
  /**
   * Calls `onBlock` with each block of slots `from`..`to` that the server has and does not refuse,
   * in order of arrival. Resolves when all are read.
   */
  recheckBlocks(from: number, to: number, onBlock: (block: RpcBlock) => void): Promise<void>
  /** The finalized blocks of slots `from`..`to`. `refused`: the server does not list them. */
  finalHeads(from: number, to: number): Promise<FinalHeads | 'refused'>
  /** A finalized block; waits for it. Null when the server refuses it, or lacks it for long. */
  finalBlock(slot: number): Promise<RpcBlock | null>
}

/** Finalized blocks of a range of slots. */
export interface FinalHeads {
  /**
   * The blocks in order, up to the first one that the server cannot read yet. One that it lists
   * without having it, or refuses, has no `blockId`.
   */
  readonly heads: readonly BlockHead[]
  /**
   * The last slot of the range that the server should know. Below the range: its finalized chain is
   * not there yet.
   */
  readonly end: number
}

/** Reads history through `rpc`. Once `stop` is aborted, every call rejects with `StoppedError`. */
export function createRpcHistory(
  deps: {
    readonly rpc: SolanaRpc
    readonly logger: Logger
    readonly metrics: Pick<IngestMetrics, 'rpcBlocks'>
    readonly refusals: Refusals
  },
  stop: AbortSignal,
): RpcHistory {
  const { rpc, logger, metrics, refusals } = deps
  const retrying = { logger, stop, refusals }
  setMaxListeners(0, stop) // each waiting call adds one

  async function waitForBlock(
    slot: number,
    isWanted: () => boolean,
  ): Promise<RpcBlock | null | 'refused'> {
    const started = performance.now()
    for (let waitMs = 100; isWanted(); waitMs = Math.min(waitMs * 2, 2000)) {
      const block = await retryUntilStopped(() => rpc.getBlock(slot), retrying)
      if (block === 'absent') return null
      if (block !== 'not_yet') return block
      const isLong = performance.now() - started >= Math.min(NOT_YET_MS, refusals.boundMs)
      if (refusals.isOver() && isLong && (await hasReached(slot))) return 'refused'
      await pauseUnlessStopped(waitMs, stop)
    }
    return null
  }

  /** Whether the server is past a slot. One that is behind may still get the block. */
  async function hasReached(slot: number): Promise<boolean> {
    return rpc.getSlot().then(
      (tip) => tip > slot,
      () => false,
    )
  }

  /** Runs `read`; `refused` if RPC refuses it for good. */
  async function unlessRefused<T>(read: () => Promise<T>): Promise<T | 'refused'> {
    try {
      return await read()
    } catch (error) {
      if (error instanceof RpcRefusedError) return 'refused'
      throw error
    }
  }

  /** The finalized slots of a range that have a block, and the newest finalized slot of all. */
  async function listFinalSlots(from: number, to: number) {
    const newest = await retryUntilStopped(() => rpc.getSlot('finalized'), retrying)
    if (newest < from) return { slots: [], newest }
    const list = () => rpc.getBlocks(from, Math.min(newest, to), 'finalized')
    return { slots: await retryUntilStopped(list, retrying), newest }
  }

  async function readHead(slot: number): Promise<BlockHead | 'absent' | 'not_yet' | 'refused'> {
    const head = await unlessRefused(() =>
      retryUntilStopped(() => rpc.getBlockHead(slot), retrying),
    )
    if (head === 'refused') refusals.giveUp('block')
    return head
  }

  return {
    tip: () => retryUntilStopped(() => rpc.getSlot(), retrying),
    block(slot, isWanted) {
      metrics.rpcBlocks.inc({ why: 'missing' })
      return unlessRefused(() => waitForBlock(slot, isWanted))
    },
    async *blocks(from, to) {
      for (let start = from; start <= to; start += SLOTS_PER_LIST) {
        const last = Math.min(start + SLOTS_PER_LIST - 1, to)
        const slots = await retryUntilStopped(() => rpc.getBlocks(start, last), retrying)
        const read = (slot: number) => unlessRefused(() => waitForBlock(slot, () => true))
        for await (const block of pMapIterable(slots, read, FEW_BLOCKS)) {
          metrics.rpcBlocks.inc({ why: 'gap' })
          if (block !== null && block !== 'refused') yield block
        }
      }
    },
    async recheckBlocks(from, to, onBlock) {
      const slots = await retryUntilStopped(() => rpc.getBlocks(from, to), retrying)
      const recheck = async (slot: number) => {
        const block = await unlessRefused(() =>
          retryUntilStopped(() => rpc.getBlock(slot), retrying),
        )
        metrics.rpcBlocks.inc({ why: 'recheck' })
        if (block === 'refused') refusals.giveUp('recheck')
        else if (block !== 'absent' && block !== 'not_yet') onBlock(block)
      }
      await pMap(slots, recheck, FEW_BLOCKS)
    },
    async finalHeads(from, to) {
      const listed = await unlessRefused(() => listFinalSlots(from, to))
      if (listed === 'refused') {
        refusals.giveUp('finality')
        return listed
      }
      const { slots, newest } = listed
      const read = await pMap(slots, readHead, FEW_BLOCKS)
      metrics.rpcBlocks.inc({ why: 'finality' }, read.length)
      const heads: BlockHead[] = []
      for (const [at, slot] of slots.entries()) {
        const head = read[at] ?? 'not_yet'
        // A node that is behind says nothing about the block.
        if (head === 'not_yet') return { heads, end: slot }
        const parent = slots[at - 1] ?? slot - 1
        heads.push(typeof head === 'object' ? head : { slot, parent, blockId: null })
      }
      return { heads, end: Math.min(newest, to) }
    },
    async finalBlock(slot) {
      metrics.rpcBlocks.inc({ why: 'replaced' })
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const read = () => retryUntilStopped(() => rpc.getBlock(slot, 'finalized'), retrying)
        const block = await unlessRefused(read)
        if (typeof block === 'object') return block
        if (block === 'refused') {
          refusals.giveUp('block')
          return null
        }
        await pauseUnlessStopped(Math.min(100 * 2 ** tries, 2000), stop)
      }
      return null
    },
  }
}

const SLOTS_PER_LIST = 500
/** A server that is past a slot has its block within this time. */
const NOT_YET_MS = 10_000
/** A finalized block is asked for this often, which takes ten minutes. */
const MOST_TRIES = 300
/** A block takes megabytes, so only a few are in memory at once. */
const FEW_BLOCKS = { concurrency: 6 }
