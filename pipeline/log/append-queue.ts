/** An entry to append to a partition. */
export interface OutgoingEntry {
  readonly partition: number
  /** The wallet's alias; null for a marker. */
  readonly key: string | null
  readonly value: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Appends entries in the order of the calls. */
export interface AppendQueue {
  /**
   * Resolves when all entries are acknowledged. Entries of one call keep their order within a
   * partition.
   */
  append(entries: readonly OutgoingEntry[]): Promise<void>
  /** Rejects waiting entries, and every later append. Does not wait for the request in flight. */
  end(reason: Error): void
}

/**
 * Sends entries with one request in flight. Appends that arrive meanwhile share the next request,
 * of at most `maxBytes`; a larger append is split. This keeps the order, and one slow
 * acknowledgement does not lead to many small requests. When `send` rejects, the queue ends.
 */
export function createAppendQueue(
  send: (entries: readonly OutgoingEntry[]) => Promise<void>,
  maxBytes: number,
): AppendQueue {
  const waiting: Waiting[] = []
  let ended: Error | undefined
  let sending = false

  const end = (reason: Error) => {
    ended ??= reason
    for (const append of waiting.splice(0)) append.reject(ended)
  }

  const work = async () => {
    sending = true
    while (waiting.length > 0) {
      const { entries, whole } = takeRequest(waiting, maxBytes)
      try {
        await send(entries)
      } catch (error) {
        for (const append of whole) append.reject(error as Error)
        end(error as Error)
        break
      }
      for (const append of whole) append.resolve()
    }
    sending = false
  }

  return {
    append(entries) {
      if (ended) return Promise.reject(ended)
      if (entries.length === 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ entries, next: 0, resolve, reject })
        if (!sending) void work()
      })
    },
    end,
  }
}

interface Waiting {
  readonly entries: readonly OutgoingEntry[]
  /** The first entry not yet sent. */
  next: number
  resolve(): void
  reject(error: Error): void
}

/**
 * Takes entries from the front, at least one. `whole`: the appends that are now taken completely.
 */
function takeRequest(waiting: Waiting[], maxBytes: number) {
  const entries: OutgoingEntry[] = []
  const whole: Waiting[] = []
  let bytes = 0
  for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
    for (let entry = head.entries[head.next]; entry; entry = head.entries[++head.next]) {
      bytes += ENTRY_OVERHEAD + entry.value.length // ASCII
      if (bytes > maxBytes && entries.length > 0) return { entries, whole }
      entries.push(entry)
    }
    whole.push(head)
    waiting.shift()
  }
  return { entries, whole }
}

/**
 * Upper bound of the bytes that Kafka adds to a value: key, headers, lengths, offset and time
 * differences.
 */
const ENTRY_OVERHEAD = 96
