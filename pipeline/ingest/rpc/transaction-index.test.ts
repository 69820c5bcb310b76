import test from 'ava'
import type { BlockSignatures } from './solana-rpc.ts'
import { createTransactionIndexes } from './transaction-index.ts'

/** A server on which block `n` has the signatures `n/0` and `n/1`, and records requested slots. */
function createServer(missing: ReadonlyMap<number, 'absent' | 'not_yet'> = new Map()) {
  const requested: number[] = []
  return {
    requested,
    async getBlockSignatures(slot: number): Promise<BlockSignatures | 'absent' | 'not_yet'> {
      requested.push(slot)
      const block = { blockTime: slot * 10, signatures: [`${slot}/0`, `${slot}/1`] }
      return missing.get(slot) ?? block
    },
  }
}

test('the index of a signature in its block is found with one request per block', async (t) => {
  const server = createServer()
  const indexes = createTransactionIndexes(server)
  t.deepEqual(await Promise.all([indexes.of(7, '7/1'), indexes.of(7, '7/0')]), [
    { index: 1, blockTime: 70 },
    { index: 0, blockTime: 70 },
  ])
  t.is(await indexes.of(7, '8/0'), null)
  t.deepEqual(server.requested, [7])
})

test('a block that the server does not have is requested again', async (t) => {
  const missing = new Map([[7, 'not_yet' as const]])
  const server = createServer(missing)
  const indexes = createTransactionIndexes(server)
  t.is(await indexes.of(7, '7/0'), null)
  missing.clear()
  t.deepEqual(await indexes.of(7, '7/0'), { index: 0, blockTime: 70 })
})

test('the least recently used blocks are evicted above the limit of signatures', async (t) => {
  const server = createServer()
  const indexes = createTransactionIndexes(server, 4)
  for (const slot of [7, 8, 7, 9, 7, 8]) await indexes.of(slot, `${slot}/0`)
  t.deepEqual(server.requested, [7, 8, 9, 8])
})

test('concurrent requests for more blocks than the cache holds all resolve', async (t) => {
  const indexes = createTransactionIndexes(createServer(), 2)
  const slots = Array.from({ length: 20 }, (_, slot) => slot)
  t.deepEqual(
    await Promise.all(slots.map((slot) => indexes.of(slot, `${slot}/1`))),
    slots.map((slot) => ({ index: 1, blockTime: slot * 10 })),
  )
})

test('a failed request rejects and is not cached', async (t) => {
  let failures = 0
  const server = createServer()
  const indexes = createTransactionIndexes({
    async getBlockSignatures(slot) {
      if (failures++ === 0) throw new Error('down')
      return server.getBlockSignatures(slot)
    },
  })
  await t.throwsAsync(indexes.of(7, '7/0'), { message: 'down' })
  t.deepEqual(await indexes.of(7, '7/0'), { index: 0, blockTime: 70 })
})
