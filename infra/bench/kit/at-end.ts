import { interruption } from '../../operator/stop-on-signal.ts'
import { openInOrder } from '../../service/open-parts.ts'

/** Remembers what has to be done when a bench ends. */
export type AtEnd = (close: () => unknown) => void

/**
 * Runs `work`, then does what it has remembered, the last first, whether `work` fails or not. When
 * `stopping` aborts, this rejects after doing so without waiting for `work`. What `work` remembers
 * later is done at once, so that it leaves nothing behind.
 */
export async function withEnd(
  stopping: AbortSignal,
  work: (atEnd: AtEnd) => Promise<void>,
): Promise<void> {
  const interrupted = interruption(stopping)
  const { close } = await openInOrder(async (parts) => {
    const atEnd: AtEnd = (end) => {
      const part = { close: async () => void (await end()) }
      if (stopping.aborted)
        part.close().catch(() => {}) // the interruption is the fault to report
      else parts.add(part)
    }
    await Promise.race([interrupted, work(atEnd)])
    return {}
  })
  await close()
}
