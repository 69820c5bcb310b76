/** Outputs between the stream and whoever takes them: in order, and watched for its size. */
export interface OutputQueue<T> {
  push(item: T, bytes: number): void
  /** The oldest item; waits for one. Null once the queue was ended and is empty. */
  take(): Promise<T | null>
  /** Resolves when less than half of what is allowed is waiting. */
  room(): Promise<void>
  /** What waits: items and their bytes. */
  readonly size: { readonly items: number; readonly bytes: number }
  /** Whether more is waiting than allowed. */
  readonly full: boolean
  end(): void
}

/** A queue that is full above `most`. Whoever fills it has to stop by itself: nothing is refused. */
export function createOutputQueue<T>(most: { items: number; bytes: number }): OutputQueue<T> {
  let items: { readonly item: T; readonly bytes: number }[] = []
  let first = 0
  let bytes = 0
  let ended = false
  let wakeTaker: (() => void) | null = null
  let wakeFiller: (() => void)[] = []

  const count = () => items.length - first
  const hasRoom = () => ended || (count() <= most.items / 2 && bytes <= most.bytes / 2)

  return {
    push(item, itemBytes) {
      items.push({ item, bytes: itemBytes })
      bytes += itemBytes
      wakeTaker?.()
    },
    async take() {
      while (count() === 0) {
        if (ended) return null
        await new Promise<void>((resolve) => {
          wakeTaker = resolve
        })
        wakeTaker = null
      }
      const oldest = items[first]
      if (oldest === undefined) throw new Error('a queue that is not empty has an oldest item')
      first++
      bytes -= oldest.bytes
      // Cutting costs as much as what is kept, so it is done rarely.
      if (first > 64 && first > items.length / 2) {
        items = items.slice(first)
        first = 0
      }
      if (hasRoom()) {
        for (const wake of wakeFiller) wake()
        wakeFiller = []
      }
      return oldest.item
    },
    async room() {
      if (!hasRoom()) await new Promise<void>((resolve) => wakeFiller.push(resolve))
    },
    get size() {
      return { items: count(), bytes }
    },
    get full() {
      return count() > most.items || bytes > most.bytes
    },
    end() {
      ended = true
      wakeTaker?.()
      for (const wake of wakeFiller) wake()
      wakeFiller = []
    },
  }
}
