import test from 'ava'
import { blockTimeOf } from '../../simulator/market/slot-time.ts'
import { confirmedAt, confirmedSlot, lastSlotOf } from './due.ts'

const SLOTS = [405_000_000, 405_000_001, 405_000_002, 405_000_003, 405_000_004]

test('a slot is the newest confirmed one from the time at which it is confirmed', (t) => {
  for (const slot of SLOTS) {
    t.is(confirmedSlot(confirmedAt(slot)), slot)
    t.is(confirmedSlot(confirmedAt(slot) - 1), slot - 1)
  }
})

test('the last slot of a block time is followed by one of the next', (t) => {
  for (const slot of SLOTS) {
    const last = lastSlotOf(blockTimeOf(slot))
    t.is(blockTimeOf(last), blockTimeOf(slot))
    t.is(blockTimeOf(last + 1), blockTimeOf(slot) + 1)
  }
})
