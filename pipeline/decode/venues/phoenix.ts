import { address } from '../../domain/address.ts'
import type { Program } from '../program.ts'

/**
 * Phoenix order book. Takers settle at once: tag 0 Swap, and 2 PlaceLimitOrder if it crosses the
 * book. Then two mints move; an order that only rests deposits one. Not swaps: 1 and 3, which trade
 * within a seat's free funds, cancels, withdrawals, 15 Log.
 *
 * Source: Ellipsis-Labs/phoenix-v1 `src/program/instruction.rs`.
 */
export const phoenix: Program = {
  name: 'phoenix',
  id: address('PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY'),
  kind: 'venue',
  isSwap: (data) => (data[0] === 2 ? 'two_mints' : data[0] === 0),
}
