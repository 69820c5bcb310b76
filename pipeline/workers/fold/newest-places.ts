import type { LoggedRecord } from './flush.ts'

/** The newest transaction of a partition of which records are stored. */
interface NewestPlace {
  readonly slot: number
  readonly txIndex: number
  readonly decoderVersion: number
  /** Whether nothing of the transaction was stored before this process stored it. */
  readonly isFresh: boolean
}

/**
 * Highest transaction stored per partition, by slot and index. The log has the records of a
 * partition in this order, so nothing is stored of a transaction above it, and no lookup is needed.
 */
export class NewestPlaces {
  readonly #start: number
  readonly #places = new Map<number, NewestPlace>()

  /** `startSlot`: highest slot stored of any partition, before the first `raise`. */
  constructor(startSlot: number) {
    this.#start = startSlot
  }

  /** `new`: nothing of the transaction is stored. `continued`: what is stored is its beginning. */
  relationOf(
    partition: number,
    { record, late, decoderVersion }: LoggedRecord,
  ): 'new' | 'continued' | 'unknown' {
    const newest = this.#places.get(partition)
    if (newest === undefined) return record.slot > this.#start ? 'new' : 'unknown'
    const distance = record.slot - newest.slot || record.txIndex - newest.txIndex
    if (distance > 0) return 'new'
    const isContinued =
      distance === 0 && newest.isFresh && late === null && decoderVersion === newest.decoderVersion
    return isContinued ? 'continued' : 'unknown'
  }

  /** Notes a stored record; `isFresh`: nothing of its transaction had to be looked up. */
  raise(partition: number, { record, decoderVersion }: LoggedRecord, isFresh: boolean): void {
    const { slot, txIndex } = record
    const newest = this.#places.get(partition)
    const distance = newest ? slot - newest.slot || txIndex - newest.txIndex : slot - this.#start
    if (distance < 0 || (distance === 0 && !newest)) return
    const isSame = newest?.isFresh === true && newest.decoderVersion === decoderVersion
    const staysFresh = isFresh && (distance > 0 || isSame)
    this.#places.set(partition, { slot, txIndex, decoderVersion, isFresh: staysFresh })
  }
}
