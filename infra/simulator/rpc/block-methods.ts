import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { LedgerView } from './ledger-view.ts'
import { configOf, type RpcConfig, type RpcMethods, requireNumber } from './parameters.ts'
import { RpcError, RpcErrorCode } from './rpc-error.ts'
import { encodeRpcTransaction } from './transaction-methods.ts'

const MOST_SLOTS = 500_000

/** RPC methods about slots and blocks. */
export function blockMethods(view: LedgerView): RpcMethods {
  const { chain, window } = view
  return {
    getSlot: ([config]) => view.tip(configOf(config)),
    getFirstAvailableBlock: () => chain.nextProduced(window.first(), window.processed()),
    getLatestBlockhash([config]) {
      const parsed = configOf(config)
      const block = chain.block(view.tip(parsed))
      const value = { blockhash: block.blockhash, lastValidBlockHeight: block.height + 150 }
      return { context: view.context(parsed), value }
    },
    getBlockTime: ([slot]) => view.blockAt(requireNumber(slot), window.processed()).time,
    getBlocks([start, end, config]) {
      const limit = view.newest(configOf(typeof end === 'object' ? end : config))
      const last = typeof end === 'number' ? Math.min(end, limit) : limit
      const first = requireNumber(start)
      if (last - first > MOST_SLOTS) {
        const text = `Slot range too large; max ${MOST_SLOTS}`
        throw new RpcError(RpcErrorCode.invalidParams, text)
      }
      return view.produced(first, last)
    },
    getBlock([slot, config]) {
      const parsed = configOf(config)
      return blockJson(view.blockAt(requireNumber(slot), view.newest(parsed)), parsed, chain)
    },
  }
}

function blockJson(block: Block, config: RpcConfig, chain: SimulatedChain): unknown {
  const details = config.transactionDetails ?? 'full'
  const head = {
    blockHeight: block.height,
    blockTime: block.time,
    blockhash: block.blockhash,
    parentSlot: block.parent,
    previousBlockhash: block.parentBlockhash,
    ...(config.rewards === false ? {} : { rewards: [] }),
  }
  if (details === 'none') return head
  if (details === 'signatures') {
    return { ...head, signatures: chain.signatures(block.slot).map(encodeBase58) }
  }
  return {
    ...head,
    transactions: block.transactions.map((info) => encodeRpcTransaction(info, config)),
  }
}
