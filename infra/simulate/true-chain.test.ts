import test from 'ava'
import type { Simulator } from '../simulator/simulator.ts'
import { compareCoverage, leaveUntraded } from './compare-facts.ts'
import { TrueChain } from './true-chain.ts'

const place = (slot: number, wallet = 1) => ({ wallet, slot, txIndex: 3 })
const link = (slot: number, account: string, mint: string) => ({ ...place(slot), account, mint })
const swap = { ...place(7), kind: 'swap', baseMint: 'traded' }
const transfer = (slot: number) => ({ ...place(slot), kind: 'transfer', mint: 'spam' })

/** A chain of slots 5 to 9, with what happened in each. */
function aChain(): TrueChain {
  const truths: Record<number, object> = {
    5: { events: [], balances: [], links: [link(5, 'a', 'spam'), link(5, 'b', 'traded')] },
    6: { events: [transfer(6)], balances: [], links: [link(6, 'a', 'spam')] },
    7: { events: [swap], balances: [place(7)], links: [link(7, 'b', 'traded')] },
    8: { events: [transfer(8)], balances: [], links: [link(8, 'a', 'spam')] },
    9: { events: [], balances: [place(9, 2)], links: [link(9, 'b', 'traded')] },
  }
  const simulator = {
    confirmedSlot: 9,
    shape: { kind: () => 'produced' },
    truth: (slot: number) => truths[slot],
    market: { block: () => ({ transactions: [] }), timeOf: () => 0 },
  } as unknown as Simulator // a chain needs no more of it
  const chain = new TrueChain(simulator, 5)
  chain.catchUp(2)
  return chain
}

const aBreak = (account: string, mint: string, from: number, slot: number) => ({
  wallet: 1,
  account,
  mint,
  from_slot: String(from),
  from_tx_index: 3,
  slot: String(slot),
  tx_index: 3,
  cause: 'not_traded',
})

test('what the service leaves of a mint that was never traded is not expected (rule K6)', async (t) => {
  const chain = aChain()
  const spam = aBreak('a', 'spam', 5, 8)
  const traded = aBreak('b', 'traded', 5, 9)
  await leaveUntraded(async () => [spam, traded] as never, chain)
  t.deepEqual(chain.events as unknown, [swap, transfer(8)])
  t.deepEqual(chain.balances as unknown, [place(7), place(9, 2)])
  t.deepEqual(chain.links as unknown, [
    link(5, 'a', 'spam'),
    link(5, 'b', 'traded'),
    link(7, 'b', 'traded'),
    link(8, 'a', 'spam'),
    link(9, 'b', 'traded'),
  ])

  const query = async (sql: string) => (sql.includes('chain_breaks') ? [spam, traded] : [])
  const { differences } = await compareCoverage(
    query as never,
    chain,
    { timeOf: () => 0 } as never,
    0,
  )
  const { account: _, ...unfilled } = traded
  t.deepEqual(differences, [{ table: 'chain_breaks', expected: null, stored: unfilled }])

  await leaveUntraded(async () => [], chain)
  t.is(chain.links.length, 6)
  t.is(chain.events.length, 3)
})
