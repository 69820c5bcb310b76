/** An append to the log whose acknowledgement is still to come. */
export interface PendingAppend {
  readonly acknowledged: Promise<void>
}

/** Bounds the number of unacknowledged appends, and with it memory. */
export interface AppendWindow {
  /**
   * Resolves when there is room for one more. Rejects as soon as it meets an append that failed.
   */
  room(): Promise<void>
  /** Adds an append. A failure is reported by a later `room` or `empty`. */
  add(append: PendingAppend): void
  /** Resolves when every append is acknowledged. Rejects when one failed. */
  empty(): Promise<void>
}

/**
 * Creates a window of at most `size` appends. They are awaited in the order in which they were
 * added.
 */
export function createAppendWindow(size: number): AppendWindow {
  const pending: Promise<void>[] = []
  return {
    async room() {
      while (pending.length >= size) await pending.shift()
    },
    add({ acknowledged }) {
      acknowledged.catch(() => {}) // reported by `room` or `empty`
      pending.push(acknowledged)
    },
    async empty() {
      while (pending.length > 0) await pending.shift()
    },
  }
}
