import test from 'ava'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { BalanceRecord } from '../../domain/event.ts'
import { LateOrder } from '../../log/late-order.ts'
import type { LogRecord } from '../../log/log.ts'
import { joinBatches } from './flush.ts'

const marker = (offset: bigint, slot: number, parent: number): LogRecord => ({
  offset,
  kind: 'marker',
  marker: { slot, parent, blockTime: slot, solPrice: null, blockId: null, finalized: null },
})

const balance: BalanceRecord = {
  kind: 'balance',
  slot: 12,
  txIndex: 0,
  wallet: 1,
  blockTime: 12,
  lamports: 5n,
  lamportsBefore: 6n,
}

test('batches are joined in order, with the newest marker of each partition', (t) => {
  const order = new LateOrder(0, [
    [0, 10],
    [1, 10],
  ])
  const record: LogRecord = { offset: 2n, kind: 'record', record: balance, late: null }
  const refold = { wallet: 2, revision: 3 }
  const { flush, reached } = joinBatches(
    [
      { partition: 0, records: [marker(1n, 11, 10), record, marker(3n, 12, 11)] },
      { partition: 1, records: [{ offset: 1n, kind: 'refold', refold }, marker(2n, 11, 10)] },
    ],
    order,
  )
  t.deepEqual(flush.records, [
    { record: balance, late: null, blockId: null, decoderVersion: DECODER_VERSION, mark: null },
  ])
  t.deepEqual(
    flush.markers.map(({ slot }) => slot),
    [11, 12, 11],
  )
  t.deepEqual(flush.refolds, [refold])
  t.deepEqual(flush.gaps, [])
  t.deepEqual(
    [...reached].map(([partition, marker]) => [partition, marker?.slot]),
    [
      [0, 12],
      [1, 11],
    ],
  )
  t.deepEqual(
    [...order.all()],
    [
      [0, 12],
      [1, 11],
    ],
  )
})

test('a marker whose parent is beyond the marker before it reveals a gap', (t) => {
  const batches = [{ partition: 0, records: [marker(1n, 20, 15), marker(2n, 21, 20)] }]
  t.deepEqual(joinBatches(batches, new LateOrder(0, [[0, 10]])).flush.gaps, [
    { partition: 0, fromSlot: 10, toSlot: 15, isLost: false },
  ])
  t.deepEqual(joinBatches(batches, new LateOrder(0)).flush.gaps, [])
})

test('after lost entries the first new marker reveals a hole, even if no slot is missing (rule K10)', (t) => {
  const gapsOf = (records: LogRecord[]) =>
    joinBatches([{ partition: 3, records }], new LateOrder(0, [[3, 10]]), new Set([3])).flush.gaps
  const hole = { partition: 3, fromSlot: 10, isLost: true }
  t.deepEqual(gapsOf([marker(1n, 9, 8), marker(2n, 11, 10), marker(3n, 12, 11)]), [
    { ...hole, toSlot: 10 },
  ])
  t.deepEqual(gapsOf([marker(1n, 20, 15), marker(2n, 30, 25)]), [
    { ...hole, toSlot: 15 },
    { partition: 3, fromSlot: 20, toSlot: 25, isLost: false },
  ])
  t.deepEqual(gapsOf([marker(1n, 9, 8)]), [])
})
