import test from 'ava'
import { OpenSlots } from './open-slots.ts'
import type { PendingTransaction } from './sealer-events.ts'

const transaction = (key: string, bytes = 100): PendingTransaction<string> => ({
  key,
  index: 0,
  bytes,
  item: `${key}, ${bytes} bytes`,
})
const keysOf = (slots: OpenSlots<string, string>, slot: number) =>
  [...(slots.all.get(slot)?.transactions.values() ?? [])].map(({ key }) => key)

const metaOf = (parent: number) => ({ parent, blockTime: 5, blockId: 7n })

test('a transaction is kept once per signature and size, and its bytes are counted', (t) => {
  const slots = new OpenSlots<string, string>()
  t.true(slots.add(11, transaction('a')))
  t.false(slots.add(11, transaction('a')))
  t.true(slots.add(11, transaction('a', 50)))
  t.true(slots.add(12, transaction('a')))
  t.deepEqual(slots.size, { slots: 2, transactions: 3, bytes: 250 })
  t.is(slots.deleteUpTo(11), 2)
  t.deepEqual(slots.size, { slots: 1, transactions: 1, bytes: 100 })
})

test('a fetched block replaces the transactions of the stream and takes no more of them', (t) => {
  const slots = new OpenSlots<string, string>()
  slots.add(11, transaction('a'))
  slots.addAccount({ kind: 'account', slot: 11, writeVersion: 1, account: 'state' })
  const transactions = [transaction('b'), transaction('c'), transaction('c')]
  t.is(slots.replaceWithBlock({ slot: 11, ...metaOf(10), transactions }), 1)
  t.false(slots.add(11, transaction('d')))
  t.deepEqual(keysOf(slots, 11), ['b', 'c'])
  t.is(slots.all.get(11)?.account?.account, 'state')
  slots.reopen()
  t.deepEqual(slots.all.get(11)?.meta, metaOf(10))
})

test('reopening keeps transactions and forgets metas and statuses of the stream', (t) => {
  const slots = new OpenSlots<string, string>()
  slots.add(11, transaction('a'))
  slots.addMeta(11, metaOf(10))
  slots.confirm(11, 1)
  slots.reopen()
  t.like(slots.all.get(11), { meta: null, confirmedAt: null })
  t.deepEqual(keysOf(slots, 11), ['a'])
})

test('a partial slot takes no meta until the stream is replaced', (t) => {
  const slots = new OpenSlots<string, string>()
  slots.addMeta(11, metaOf(10))
  slots.markPartial(11)
  slots.addMeta(11, metaOf(10))
  t.is(slots.all.get(11)?.meta, null)
  slots.reopen()
  slots.addMeta(11, metaOf(10))
  t.deepEqual(slots.all.get(11)?.meta, metaOf(10))
})

test('an absent parent takes the meta from a child of the stream, and is noted on a fetched one', (t) => {
  const slots = new OpenSlots<string, string>()
  slots.addMeta(13, metaOf(12))
  slots.replaceWithBlock({ slot: 14, ...metaOf(12), transactions: [] })
  slots.markAbsent(12)
  t.like(slots.all.get(13), { meta: null, parentAbsent: false })
  t.like(slots.all.get(14), { meta: metaOf(12), parentAbsent: true })
})
