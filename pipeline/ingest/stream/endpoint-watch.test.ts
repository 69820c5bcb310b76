import test from 'ava'
import { EndpointWatch } from './endpoint-watch.ts'

const LIMITS = { stallMs: 1800, lagSlots: 3, lagMs: 1000 }
const block = (slot: number, blockhash = `block ${slot}`, parent = slot - 1) => ({
  slot,
  parent,
  blockhash,
})

/** Three servers with slot 10, of which the first is in use. */
function watchAt10(): EndpointWatch {
  const watch = new EndpointWatch(3, 0, LIMITS, 0)
  for (const server of [0, 1, 2]) watch.onBlock(server, block(10), 0)
  return watch
}

test('a server that sends no block is left once another one has newer blocks, for the furthest', (t) => {
  const watch = watchAt10()
  t.is(watch.fault(60_000), null) // the chain stands still
  t.true(watch.isSilent(60_000))
  watch.onBlock(0, block(11), 60_000)
  watch.onBlock(1, block(12), 60_100)
  watch.onBlock(2, block(13), 60_500)
  t.is(watch.fault(61_799), null)
  t.is(watch.fault(61_800), 'stalled')
  t.is(watch.next, 2)
})

test('a server that is behind for a while is left, unless it still replays slots', (t) => {
  const watch = new EndpointWatch(2, 0, LIMITS, 0)
  for (let slot = 90; slot <= 100; slot++) watch.onBlock(1, block(slot), 0)
  for (let slot = 1; slot <= 99; slot++) {
    watch.onBlock(0, block(slot), slot * 100)
    t.is(watch.fault(slot * 100), null)
  }
  watch.onBlock(1, block(103), 9900)
  t.is(watch.fault(10_000), null)
  watch.onBlock(0, block(100), 10_900)
  t.is(watch.fault(10_900), null) // level again
  watch.onBlock(1, block(104), 10_950)
  t.is(watch.fault(11_000), null)
  watch.onBlock(0, block(100), 11_900)
  t.is(watch.fault(12_000), 'behind')
})

test('a server is left when most of the others have another hash or another parent in a slot', (t) => {
  const watch = watchAt10()
  watch.onBlock(0, block(11, 'mine'), 100)
  watch.onBlock(1, block(11, 'theirs'), 100)
  t.is(watch.fault(100), null) // one against one
  watch.onBlock(2, block(11, 'a third'), 100)
  t.is(watch.fault(100), null)
  watch.onBlock(2, block(11, 'theirs'), 200)
  t.is(watch.fault(200), 'differs')
  const parents = watchAt10()
  parents.onBlock(0, block(12), 100)
  for (const server of [1, 2]) parents.onBlock(server, block(12, 'block 12', 10), 100)
  t.is(parents.fault(100), 'differs')
})
