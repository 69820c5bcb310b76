import test from 'ava'
import { createLateTransactions } from './late-transactions.ts'
import type { LateTransaction, PendingTransaction } from './sealer-events.ts'

const transaction = (key: string): PendingTransaction<string> => ({
  key,
  index: 0,
  bytes: 100,
  item: key,
})
const late = (
  slot: number,
  key: string,
  origin: 'stream' | 'backfill',
): LateTransaction<string> => ({
  kind: 'late',
  slot,
  blockTime: 5,
  blockId: BigInt(slot),
  transaction: key,
  origin,
})

const sealed = (slot: number) => ({ slot, blockTime: 5, blockId: BigInt(slot) })

test('a transaction is late once; the others are counted by the reason for which they are dropped', (t) => {
  const dropped = { duplicate: 0, passed_over: 0, too_old: 0 }
  const recent = createLateTransactions<string>(2, dropped)
  recent.remember(sealed(11), ['a'])
  recent.remember(sealed(13), [])
  t.is(recent.find(11, transaction('a')), null)
  t.deepEqual(recent.find(11, transaction('b')), late(11, 'b', 'stream'))
  t.is(recent.find(11, transaction('b')), null)
  t.is(recent.find(12, transaction('c')), null)
  t.is(recent.find(10, transaction('d')), null)
  t.deepEqual(dropped, { duplicate: 2, passed_over: 1, too_old: 1 })
})

test('a rechecked block gives what its slot lacked, or everything when its slot is unknown', (t) => {
  const recent = createLateTransactions<string>(3, { duplicate: 0, passed_over: 0, too_old: 0 })
  recent.remember(sealed(11), ['a'])
  const block = (slot: number) => ({
    slot,
    parent: slot - 1,
    blockTime: 5,
    blockId: BigInt(slot),
    transactions: [transaction('a'), transaction('b')],
  })
  t.deepEqual(recent.recheck(block(11)), [late(11, 'b', 'stream')])
  t.deepEqual(recent.recheck(block(9)), [late(9, 'a', 'backfill'), late(9, 'b', 'backfill')])
  t.deepEqual(recent.recheck(block(9)), [])
  t.deepEqual(recent.slots(), [9, 11])
})

test('of a slot from before the start, what its log lacks is late, and the rest is fetched once more', (t) => {
  const dropped = { duplicate: 0, passed_over: 0, too_old: 0 }
  const recent = createLateTransactions<string>(3, dropped)
  recent.resume(sealed(11), ['a'])
  const block = { ...sealed(11), parent: 10, transactions: ['a', 'b', 'c'].map(transaction) }
  t.deepEqual(recent.find(11, transaction('b')), late(11, 'b', 'stream'))
  t.is(recent.find(11, transaction('a')), null)
  t.deepEqual(recent.recheck(block), [
    late(11, 'a', 'backfill'),
    late(11, 'b', 'backfill'),
    late(11, 'c', 'stream'),
  ])
  t.deepEqual(recent.recheck(block), [])
  t.deepEqual(dropped, { duplicate: 4, passed_over: 0, too_old: 0 })
})

test('the lowest slots are forgotten first, in whatever order they came', (t) => {
  const recent = createLateTransactions<string>(2, { duplicate: 0, passed_over: 0, too_old: 0 })
  recent.remember(sealed(11), [])
  recent.remember(sealed(12), [])
  recent.recheck({ ...sealed(8), parent: 7, transactions: [] })
  t.deepEqual(recent.slots(), [11, 12])
  recent.remember(sealed(13), [])
  t.deepEqual(recent.slots(), [12, 13])
})

test('a rechecked block of another fork than the sealed one gives nothing', (t) => {
  const recent = createLateTransactions<string>(3, { duplicate: 0, passed_over: 0, too_old: 0 })
  recent.remember(sealed(11), [])
  const other = { ...sealed(11), blockId: 12n, parent: 10, transactions: [transaction('a')] }
  t.deepEqual(recent.recheck(other), [])
  t.deepEqual(recent.recheck({ ...other, blockId: null }), [late(11, 'a', 'stream')])
})

test('a withdrawn slot takes no more transactions; its finalized block gives all of its own (rule K9)', (t) => {
  const dropped = { duplicate: 0, passed_over: 0, too_old: 0 }
  const recent = createLateTransactions<string>(3, dropped)
  recent.remember(sealed(10), [])
  recent.remember(sealed(11), ['a', 'b'])
  recent.withdraw(11)
  t.is(recent.find(11, transaction('c')), null)
  const read = { ...sealed(11), parent: 10, transactions: [transaction('a')] }
  t.deepEqual(recent.recheck(read), [], 'read before it was withdrawn')
  const final = { ...sealed(11), parent: 10, transactions: [transaction('b'), transaction('d')] }
  t.deepEqual(recent.settle(final), [late(11, 'b', 'stream'), late(11, 'd', 'stream')])
  t.is(recent.find(11, transaction('c')), null)
  t.deepEqual(dropped, { duplicate: 3, passed_over: 0, too_old: 0 })
})
