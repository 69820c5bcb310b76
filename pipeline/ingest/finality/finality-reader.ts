import type { Logger } from '../../runtime/logger.ts'
import type { SlotRange } from '../catch-up.ts'
import type { RpcHistory } from '../rpc/rpc-history.ts'
import { type BackoffLimits, createBackoff } from '../stream/backoff.ts'
import type { IngestMetrics } from '../telemetry.ts'
import type { FinalityTracker } from './finality-tracker.ts'

/** Limits of a finality reader. */
export interface FinalityReaderLimits extends BackoffLimits {
  /** How long RPC may lack a finalized block, though it is past its slot, before it is given up. */
  readonly refusalMs: number
}

/** Dependencies of a finality reader. */
export interface FinalityReaderDeps {
  readonly tracker: FinalityTracker
  readonly history: Pick<RpcHistory, 'finalHeads'>
  /** Called after the tracker got blocks, or gave some up. */
  readonly onRead: () => void
  readonly logger: Logger
  readonly metrics: Pick<IngestMetrics, 'unverifiedSlots'>
}

/** Reads over RPC the finalized blocks that no stream brought. */
export interface FinalityReader {
  /**
   * Adds the next blocks that are wanted to the tracker. Does nothing while another read runs, or
   * before the backoff is over.
   */
  read(): Promise<void>
  /** Notes that the finalized chain moved by a block. */
  onMoved(): void
}

/**
 * Creates a reader. It gives blocks up when RPC refuses to list them, or lacks the next one for too
 * long: the sealed slots there stay unverified. Ranges that follow are then given up at once, until
 * RPC has a block again.
 */
export function createFinalityReader(
  { tracker, history, onRead, logger, metrics }: FinalityReaderDeps,
  limits: FinalityReaderLimits,
  now = () => performance.now(),
): FinalityReader {
  const backoff = createBackoff(limits)
  let isReading = false
  // Times are monotonic milliseconds.
  let nextReadAt = 0
  /** Since when RPC lacks the next block, though it is past its slot; null if it does not. */
  let lackingSince: number | null = null

  async function read({ from, to }: SlotRange): Promise<void> {
    const found = await history.finalHeads(from, to)
    if (found !== 'refused') {
      for (const block of found.heads) tracker.addFinal(block)
      onRead()
    }
    const isLacked = tracker.wanted(SLOTS_PER_READ)?.from === from
    if (!isLacked) lackingSince = null
    else if (found === 'refused') giveUp(to)
    else if (isLackedForLong(from, found.end)) giveUp(found.end)
  }

  /**
   * Whether RPC, which should know slots `from`..`end`, has lacked the next block for too long. A
   * server may be a pool of nodes, some of which are behind.
   */
  function isLackedForLong(from: number, end: number): boolean {
    lackingSince = end < from ? null : (lackingSince ?? now())
    return lackingSince !== null && now() - lackingSince >= limits.refusalMs
  }

  function giveUp(to: number): void {
    const { tip } = tracker
    const slots = tracker.giveUp(to)
    if (tracker.tip === tip) return
    metrics.unverifiedSlots.inc(slots)
    logger.warn({ slots }, 'RPC does not give finalized blocks; sealed slots stay unverified')
    backoff.reset()
    onRead()
  }

  return {
    async read() {
      const wanted = tracker.wanted(SLOTS_PER_READ)
      if (wanted === null || isReading || now() < nextReadAt) return
      isReading = true
      try {
        await read(wanted)
      } finally {
        isReading = false
        nextReadAt = now() + backoff.next()
      }
    },
    onMoved() {
      backoff.reset()
      lackingSince = null
    },
  }
}

/** Slots that one read covers. */
const SLOTS_PER_READ = 200
