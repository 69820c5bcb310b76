import type { Logger } from '../../runtime/logger.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { pauseOrStop, persist } from './persist.ts'
import type { RpcBlock, SolanaRpc } from './solana-rpc.ts'

/** Blocks of the past over RPC, fetched until they are had: nothing later may pass before them. */
export interface RpcHistory {
  /** The newest confirmed slot. */
  tip(): Promise<number>
  /** A block; null when the chain does not have it, or when `wanted` says that nobody waits for it any more. */
  block(slot: number, wanted: () => boolean): Promise<RpcBlock | null>
  /** The blocks from `from` to `to` in order, some fetched ahead. */
  blocks(from: number, to: number): AsyncIterable<RpcBlock>
  /** The blocks from `from` to `to`, in any order, as they come. */
  pastBlocks(from: number, to: number): AsyncIterable<RpcBlock>
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
      await pauseOrStop(waitMs, stop)
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
        const last = Math.min(start + SLOTS_A_LIST - 1, to)
        const slots = await persist(() => rpc.getBlocks(start, last), asking)
        for await (const found of inOrder(slots, (slot) => block(slot, () => true))) {
          metrics.rpcBlocks.inc({ why: 'gap' })
          if (found !== null) yield found
        }
      }
    },
    async *pastBlocks(from, to) {
      const slots = await persist(() => rpc.getBlocks(from, to), asking)
      const ask = (slot: number) => persist(() => rpc.getBlock(slot), asking)
      for await (const found of asTheyCome(slots, ask)) {
        metrics.rpcBlocks.inc({ why: 'recheck' })
        if (found !== 'absent' && found !== 'not_yet') yield found
      }
    },
  }
}

/** Asks for all, a few at a time, and gives the answers in the order of the items. */
async function* inOrder<T, R>(items: readonly T[], ask: (item: T) => Promise<R>) {
  const ahead: Promise<R>[] = []
  for (const item of items) {
    const answer = ask(item)
    answer.catch(() => {}) // told when its turn comes
    ahead.push(answer)
    const first = ahead.length >= BLOCKS_AHEAD ? ahead.shift() : undefined
    if (first !== undefined) yield await first
  }
  for (const answer of ahead) yield await answer
}

/** Asks for all, a few at a time, and gives the answers as they come. */
async function* asTheyCome<T, R>(items: readonly T[], ask: (item: T) => Promise<R>) {
  const open = new Map<T, Promise<{ readonly item: T; readonly answer: R }>>()
  async function* first() {
    const { item, answer } = await Promise.race(open.values())
    open.delete(item)
    yield answer
  }
  for (const item of items) {
    const asked = ask(item).then((answer) => ({ item, answer }))
    asked.catch(() => {}) // told by the race
    open.set(item, asked)
    if (open.size >= BLOCKS_AHEAD) yield* first()
  }
  while (open.size > 0) yield* first()
}

const SLOTS_A_LIST = 500
/** Blocks are megabytes: few at a time. */
const BLOCKS_AHEAD = 6
