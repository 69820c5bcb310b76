import test from 'ava'
import { type MarketClock, waitForFinality } from './clock.ts'
import { MarketTimes } from './market-times.ts'

test('a market waits for finality by going on', async (t) => {
  const asked: number[] = []
  const simulator = {
    slot: 100,
    advance(slots: number) {
      this.slot += slots
    },
  }
  const position = {
    get slot() {
      return simulator.slot
    },
  }
  const times = new MarketTimes()
  // The clock needs no more of its parts.
  const clock = {
    simulator,
    position,
    times,
    startSlot: 0,
    stride: 1,
    deployed: { away: new Set(), supervise() {} },
  } as unknown as MarketClock
  await waitForFinality(clock, 'slot 100 to be final', async () => {
    asked.push(simulator.slot)
    return simulator.slot - 32 > 100
  })
  t.deepEqual(asked, [134])
  t.is(times.slotAt(Date.now()), 134)
})
