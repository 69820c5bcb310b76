import test from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import { createSlotTimes } from './slot-times.ts'

/** Blocks in every third slot up to 999, one second per slot. Those before `first` are pruned. */
function aChain(first = 0) {
  const blocks = Array.from({ length: 334 }, (_, at) => at * 3)
  return createSlotTimes({
    getSlot: async () => 999,
    getFirstAvailableBlock: async () => first,
    getBlocks: async (from, to) => {
      if (from < first) throw new ServiceError('internal', 'pruned', { retriable: false })
      return blocks.filter((slot) => slot >= from && slot <= to)
    },
    getBlockTime: async (slot) => (slot < first ? null : 5000 + slot),
  })
}

test('the newest slot is a finalized one, at the earliest the one that is wanted (rule K9)', async (t) => {
  let finalized = 40
  const times = createSlotTimes({
    getSlot: async (commitment) => (commitment === 'finalized' ? finalized++ : 99),
    getFirstAvailableBlock: async () => 0,
    getBlocks: async () => [],
    getBlockTime: async () => null,
  })
  t.is(await times.finalizedSlot(0), 40)
  finalized = 40
  t.is(await times.finalizedSlot(40), 40)
  finalized = 40
  t.is(await times.finalizedSlot(41), 41)
})

test('slotAt finds the first slot whose block is not before a time', async (t) => {
  const times = aChain()
  t.is(await times.slotAt(5300), 298) // the block after slot 297 is in slot 300
  t.is(await times.slotAt(0), 0)
  t.is(await times.slotAt(9999), 1000)
  t.is(await aChain(600).slotAt(5300), 600)
})

test('withTime takes the time of the slot or of the next block, and of now for a pruned slot', async (t) => {
  t.deepEqual(await aChain().withTime(301), { slot: 301, time: 5303 })
  const before = Math.floor(Date.now() / 1000)
  const { slot, time } = await aChain(600).withTime(301)
  t.is(slot, 301)
  t.true(time >= before)
})
