import type { Readiness, ReadyCheck } from '../../pipeline/runtime/readiness.ts'

/** A running part of a process, as a step of the start returns it. */
export interface ServicePart {
  /** The conditions under which the part is ready, by name. */
  readonly ready?: Readonly<Record<string, ReadyCheck>>
  /** Stops the part; resolves when it has ended. */
  close(): Promise<void>
}

/** Parts that have been opened, in the order of their opening. */
export interface OpenParts {
  /** Remembers a part that was opened and its conditions of readiness, and returns the part. */
  add<T extends ServicePart>(part: T): T
  /** Closes every part, the newest first. Rejects with the first fault, once all are closed. */
  close(): Promise<void>
}

/**
 * Runs `open`, which opens parts one after another and adds each. Returns the result of `open` and
 * a `close` for all parts. If `open` rejects, the parts opened so far are closed first. The parts'
 * conditions are added to `readiness`, unless it is null.
 */
export async function openInOrder<T extends object>(
  open: (parts: OpenParts) => Promise<T>,
  readiness: Pick<Readiness, 'add'> | null = null,
): Promise<T & Pick<OpenParts, 'close'>> {
  const opened: ServicePart[] = []
  const parts: OpenParts = {
    add(part) {
      opened.push(part)
      if (part.ready) readiness?.add(part.ready)
      return part
    },
    async close() {
      const faults: unknown[] = []
      for (const part of opened.splice(0).reverse()) {
        try {
          await part.close()
        } catch (error) {
          faults.push(error)
        }
      }
      if (faults.length > 0) throw faults[0]
    },
  }
  try {
    return { ...(await open(parts)), close: () => parts.close() }
  } catch (error) {
    await parts.close().catch(() => {}) // the first fault is the one to report
    throw error
  }
}
