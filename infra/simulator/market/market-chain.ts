import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { ChainShape } from '../chain-shape.ts'
import type { Market } from './market.ts'

/**
 * The chain of a market. A dead slot holds, under its own number, the transactions of the next
 * block, as on a real fork.
 */
export function createMarketChain(
  market: Market,
  shape: ChainShape,
  firstSlot: number,
): SimulatedChain {
  return {
    firstSlot,
    kind: (slot) => shape.kind(slot),
    parent: (slot) => shape.parent(slot),
    step: (slot, steps) => slot + steps,
    nextProduced(slot, last) {
      const found = shape.atOrAfter(Math.max(slot, firstSlot))
      return found <= last ? found : null
    },
    find: (signature) => market.signatures.read(signature),
    transaction: (slot, index) => market.transaction(slot, index),
    signature: (slot, index) => market.signatures.of(slot, index),
    signatures: (slot) =>
      Array.from({ length: market.count(slot) }, (_, index) => market.signatures.of(slot, index)),
    *mentionsDown(id, from, last) {
      for (const found of market.mentionsDown(id, from, last))
        if (found === null || shape.kind(found.slot) === 'produced') yield found
    },
    account: (address, slot) => market.account(address, slot),
    tokenAccounts: (owner, slot) => market.tokenAccounts(owner, slot),
    block(slot): Block {
      if (shape.kind(slot) === 'produced') return market.block(slot)
      const next = market.block(shape.atOrAfter(slot))
      const parent = shape.parent(slot)
      return {
        ...next,
        slot,
        parent,
        blockhash: market.blockhash(-slot),
        parentBlockhash: market.blockhash(parent),
        time: market.timeOf(slot),
        accounts: [],
      }
    },
  }
}
