import test from 'ava'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { RpcErrorResponse } from './json-rpc.ts'
import { createRefusals } from './refusals.ts'
import { createRpcHistory } from './rpc-history.ts'
import type { BlockHead, SolanaRpc } from './solana-rpc.ts'

const head = (slot: number, parent = slot - 1): BlockHead => ({
  slot,
  parent,
  blockId: BigInt(slot),
})
const refuse = async () => {
  throw new RpcErrorResponse('getBlock', -32015, 'no')
}

/** The history of a server whose finalized chain has these slots. */
function historyOf(slots: readonly number[], methods: Partial<SolanaRpc> = {}) {
  const metrics = createIngestMetrics(createRegistry())
  const logger = createLogger('silent')
  const server: Partial<SolanaRpc> = {
    getSlot: async () => slots.at(-1) ?? 0,
    getBlocks: async (from, to) => slots.filter((slot) => from <= slot && slot <= to),
    getBlockHead: async (slot) => head(slot),
    ...methods,
  }
  const rpc = server as SolanaRpc // the other methods are not called
  const refusals = createRefusals(0, { logger, metrics })
  const history = createRpcHistory({ rpc, logger, metrics, refusals }, new AbortController().signal)
  const refused = async () =>
    (await metrics.refused.get()).values.flatMap(({ labels, value }) =>
      value === 0 ? [] : [labels.what],
    )
  return { history, refused }
}

test('finalized blocks are read up to the newest one, or to the end of the range', async (t) => {
  const { history } = historyOf([11, 13, 14])
  t.deepEqual(await history.finalHeads(11, 13), { heads: [head(11), head(13)], end: 13 })
  t.deepEqual(await history.finalHeads(13, 20), { heads: [head(13), head(14)], end: 14 })
  t.deepEqual(await history.finalHeads(15, 20), { heads: [], end: 14 })
})

test('the list ends before a block that a node does not have yet: its hash is not taken for granted (rule K9)', async (t) => {
  const { history } = historyOf([11, 12, 13, 14], {
    getBlockHead: async (slot) => (slot === 13 ? 'not_yet' : head(slot)),
  })
  t.deepEqual(await history.finalHeads(11, 14), { heads: [head(11), head(12)], end: 13 })
})

test('a listed block that the server lacks for good, or refuses, has no hash', async (t) => {
  const { history, refused } = historyOf([12, 14, 15], {
    getBlockHead: async (slot) =>
      slot === 12 ? 'absent' : slot === 14 ? refuse() : head(slot, 14),
  })
  t.deepEqual(await history.finalHeads(11, 15), {
    heads: [
      { slot: 12, parent: 11, blockId: null },
      { slot: 14, parent: 12, blockId: null },
      head(15, 14),
    ],
    end: 15,
  })
  t.deepEqual(await refused(), ['block'])
})

test('a finalized range or block that RPC refuses for good is given up (rule K10)', async (t) => {
  for (const method of ['getBlocks', 'getSlot']) {
    const { history, refused } = historyOf([12], { [method]: refuse })
    t.is(await history.finalHeads(11, 12), 'refused')
    t.deepEqual(await refused(), ['finality'])
  }
  const { history, refused } = historyOf([12], { getBlock: refuse })
  t.is(await history.finalBlock(12), null)
  t.deepEqual(await refused(), ['block'])
})
