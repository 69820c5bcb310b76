import type { CursorKeys } from '../cursor.ts'

/**
 * Returns the keys of a codec whose secret keys are 32 times each of these bytes, the issuing one
 * first. `trade_id`s are derived from the lowest, whatever the order.
 */
export function cursorKeys(...[first, ...others]: [number, ...number[]]): CursorKeys {
  const keyOf = (byte: number) => Buffer.alloc(32, byte)
  return {
    secretKeys: [keyOf(first), ...others.map(keyOf)],
    tradeIdKey: keyOf(Math.min(first, ...others)),
  }
}
