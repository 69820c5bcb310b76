import type { WorkerPosition } from './store.ts'
import type { PositionRow } from './tables/progress.ts'

/** The newest positions that a process has written or acted upon (rule K13). */
export class ReachedPositions {
  /** Slots by worker and partition; partition null: every partition of the worker. */
  readonly #slots = new Map<string, WorkerPosition>()

  get isEmpty(): boolean {
    return this.#slots.size === 0
  }

  /** Whether a position is newer than what was reached. */
  isNew(position: WorkerPosition): boolean {
    return position.slot > (this.#slots.get(keyOf(position))?.slot ?? -1)
  }

  add(position: WorkerPosition): void {
    if (this.isNew(position)) this.#slots.set(keyOf(position), position)
  }

  /**
   * Whether a server with these rows lacks something that was reached. A row's `slot` never goes
   * back, also where a withdrawal moves the storage marker back (rule K9).
   */
  isMissingIn(rows: readonly PositionRow[]): boolean {
    return [...this.#slots.values()].some(({ worker, partition, slot }) => {
      const found = rows.filter(
        (row) => row.worker === worker && (partition === null || row.partition === partition),
      )
      return found.length === 0 || found.some((row) => Number(row.slot) < slot)
    })
  }
}

const keyOf = ({ worker, partition }: WorkerPosition) => `${worker} ${partition}`
