/** Unix milliseconds of slot 0: slots of 400 ms reach 400 million late in 2026. */
export const GENESIS_MS = Date.UTC(2021, 9, 1)

/** Length of a slot in milliseconds. */
export const SLOT_MS = 400

/** Block time of a slot, in unix seconds. */
export function blockTimeOf(slot: number): number {
  return Math.floor((GENESIS_MS + slot * SLOT_MS) / 1_000)
}
