import test from 'ava'
import type { Address } from '../../domain/address.ts'
import { MAX_QUEUED_MINTS, MintQueue } from './mint-queue.ts'

const [a, b, c] = ['mint A', 'mint B', 'mint C'] as unknown as [Address, Address, Address]

test('mints wait in order, each once; a finished one is not noted again', (t) => {
  const queue = new MintQueue()
  t.deepEqual(queue.note([a, b, a]), { added: 2, dropped: 0 })
  t.deepEqual(queue.first(1), [a])
  queue.postpone([a])
  t.deepEqual(queue.first(5), [b, a])
  queue.finish([b])
  t.deepEqual(queue.note([b, c]), { added: 1, dropped: 0 })
  t.deepEqual(queue.first(5), [a, c])
  queue.add([b]) // its row is due again
  t.deepEqual(queue.first(5), [a, c, b])
})

test('a full queue drops mints that are noted, and counts them', (t) => {
  const queue = new MintQueue()
  queue.note(Array.from({ length: MAX_QUEUED_MINTS - 1 }, (_, n) => `mint ${n}` as Address))
  t.deepEqual(queue.note([a, b, c]), { added: 1, dropped: 2 })
  t.is(queue.size, MAX_QUEUED_MINTS)
})
