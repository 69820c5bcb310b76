/**
 * A queue between a producer that cannot wait and one consumer. It refuses nothing: the producer
 * stops by itself once the queue is `full`.
 */
export interface OutputQueue<T> {
  push(item: T, bytes: number): void
  /** The oldest item; waits for one. Null once the queue has ended and is empty. */
  take(): Promise<T | null>
  /** Resolves when the queue is at most half full, or has ended. */
  waitForRoom(): Promise<void>
  /** Number of queued items and the sum of their bytes. */
  readonly size: { readonly items: number; readonly bytes: number }
  /** Whether the queue exceeds one of its limits. */
  readonly full: boolean
  /** Ends the queue. Queued items can still be taken. */
  end(): void
}

/** An empty queue that is full above `limits`. */
export function createOutputQueue<T>(limits: { items: number; bytes: number }): OutputQueue<T> {
  let items: { readonly item: T; readonly bytes: number }[] = []
  let first = 0
  let bytes = 0
  let ended = false
  let wakeConsumer: (() => void) | null = null
  let wakeProducers: (() => void)[] = []

  const count = () => items.length - first
  const hasRoom = () => ended || (count() <= limits.items / 2 && bytes <= limits.bytes / 2)

  function releaseProducers(): void {
    for (const wake of wakeProducers) wake()
    wakeProducers = []
  }

  return {
    push(item, itemBytes) {
      items.push({ item, bytes: itemBytes })
      bytes += itemBytes
      wakeConsumer?.()
    },
    async take() {
      while (count() === 0) {
        if (ended) return null
        await new Promise<void>((resolve) => {
          wakeConsumer = resolve
        })
        wakeConsumer = null
      }
      const oldest = items[first]
      if (oldest === undefined) throw new Error('a queue that is not empty has an oldest item')
      first++
      bytes -= oldest.bytes
      // Compacting copies the remaining items, so it runs only when half of the array is taken.
      if (first > 64 && first > items.length / 2) {
        items = items.slice(first)
        first = 0
      }
      if (hasRoom()) releaseProducers()
      return oldest.item
    },
    async waitForRoom() {
      if (!hasRoom()) await new Promise<void>((resolve) => wakeProducers.push(resolve))
    },
    get size() {
      return { items: count(), bytes }
    },
    get full() {
      return count() > limits.items || bytes > limits.bytes
    },
    end() {
      ended = true
      wakeConsumer?.()
      releaseProducers()
    },
  }
}
