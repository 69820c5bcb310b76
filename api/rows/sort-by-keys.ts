import { setImmediate as nextTurn } from 'node:timers/promises'

/** A value from 0 to 2^32 - 1 of a row. */
export type RowKey = (row: number) => number

/**
 * Sorts rows in place by keys, the last one first, and rows with equal keys by `compare`; without
 * it they keep their order. It is a radix sort in steps, so that millions of rows do not block the
 * event loop.
 */
export async function sortByKeys(
  rows: Uint32Array,
  keys: readonly RowKey[],
  compare?: (a: number, b: number) => number,
): Promise<void> {
  const other = new Uint32Array(rows.length)
  for (const key of keys) {
    await sortByDigit(rows, other, (row) => key(row) & 0xffff)
    await sortByDigit(other, rows, (row) => key(row) >>> 16)
  }
  if (compare === undefined) return
  const isTie = (a: number, b: number) => {
    for (const key of keys) if (key(a) !== key(b)) return false
    return true
  }
  let start = 0
  await eachInSteps(rows.length, (at) => {
    const next = rows[at + 1]
    if (next !== undefined && isTie(rows[at]!, next)) return
    if (at > start) rows.subarray(start, at + 1).sort(compare)
    start = at + 1
  })
}

/** Writes rows to `sorted` by a digit below 2^16; rows with the same one keep their order. */
async function sortByDigit(rows: Uint32Array, sorted: Uint32Array, digitOf: RowKey): Promise<void> {
  const ends = new Uint32Array(2 ** 16 + 1)
  await eachInSteps(rows.length, (at) => {
    ends[digitOf(rows[at]!) + 1]! += 1
  })
  for (let digit = 1; digit < ends.length; digit++) ends[digit]! += ends[digit - 1]!
  await eachInSteps(rows.length, (at) => {
    const row = rows[at]!
    sorted[ends[digitOf(row)]!++] = row
  })
}

async function eachInSteps(length: number, work: (at: number) => void): Promise<void> {
  for (let at = 0; at < length; await nextTurn())
    for (const end = Math.min(length, at + STEP_ROWS); at < end; at++) work(at)
}

const STEP_ROWS = 50_000
