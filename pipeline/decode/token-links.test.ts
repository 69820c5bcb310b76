import test from 'ava'
import fc from 'fast-check'
import type { TokenAccountLink } from '../domain/event.ts'
import type { Transaction } from '../domain/transaction.ts'
import { actions, storyOf } from '../testing/stories.ts'
import { addressOf, TransactionStory, trackedNames } from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'

/** Token links of the named wallets, without slot, index and time. */
function links(tx: Transaction, ...names: readonly string[]) {
  return allLinks(tx, ...names).map(({ wallet, account, mint, before, after }) => {
    return { wallet, account, mint, before, after }
  })
}

function allLinks(tx: Transaction, ...names: readonly string[]): TokenAccountLink[] {
  const result = createDecoder(trackedNames(...names)).decode(tx, 7, () => 6)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.filter((record) => record.kind === 'token_link')
}

const link = (account: string, before: bigint, after: bigint, wallet = 1) => ({
  wallet,
  account: addressOf(account),
  mint: addressOf('COIN'),
  before,
  after,
})

const byAddress = (some: readonly ReturnType<typeof link>[]) =>
  some.toSorted((a, b) => (a.account < b.account ? -1 : 1))

const coins = (...signers: readonly string[]) =>
  new TransactionStory(...signers)
    .token('w COIN', 'w', 'COIN', 100n)
    .token('v COIN', 'v', 'COIN', 30n)

test('each token account of a wallet has a link with what it held before and after, by address (K8)', (t) => {
  const story = coins('w').token('w second', 'w', 'COIN', 5n).transfer('w COIN', 'v COIN', 40n)
  t.deepEqual(
    links(story.build(), 'w'),
    byAddress([link('w COIN', 100n, 60n), link('w second', 5n, 5n)]),
  )
  t.deepEqual(allLinks(coins('w').transfer('w COIN', 'v COIN', 40n).build(), 'w'), [
    {
      kind: 'token_link',
      slot: 1,
      txIndex: 0,
      blockTime: 7,
      ...link('w COIN', 100n, 60n),
    },
  ])
})

test('two tracked wallets of one transaction have links of their own accounts (K8)', (t) => {
  const story = coins('w', 'v').transfer('w COIN', 'v COIN', 40n)
  t.deepEqual(links(story.build(), 'w', 'v'), [
    link('w COIN', 100n, 60n),
    link('v COIN', 30n, 70n, 2),
  ])
})

test('an account that opens or closes counts as empty while it does not exist (K8)', (t) => {
  const opened = new TransactionStory('w')
    .token('v COIN', 'v', 'COIN', 30n)
    .openToken('w', 'w COIN', 'w', 'COIN')
    .transfer('v COIN', 'w COIN', 30n)
  t.deepEqual(links(opened.build(), 'w'), [link('w COIN', 0n, 30n)])
  const closed = coins('w').transfer('w COIN', 'v COIN', 100n).close('w COIN', 'w')
  t.deepEqual(links(closed.build(), 'w'), [link('w COIN', 100n, 0n)])
})

test('an account that SetAuthority gives away counts as empty before or after (K8)', (t) => {
  const given = coins('w', 'v').giveAway('w COIN', 'v')
  t.deepEqual(links(given.build(), 'w'), [link('w COIN', 100n, 0n)])
  t.deepEqual(
    links(given.build(), 'v'),
    byAddress([link('w COIN', 0n, 100n), link('v COIN', 30n, 30n)]),
  )
})

test('a transaction that names only an account has a link if the balance changed (K8)', (t) => {
  const received = coins('v').transfer('v COIN', 'w COIN', 1n)
  t.deepEqual(links(received.build(), 'w'), [link('w COIN', 100n, 101n)])
  t.deepEqual(links(coins('v').build(), 'w'), [])
})

test('a failed transaction leaves links without a change (K8)', (t) => {
  const story = coins('w').transfer('w COIN', 'v COIN', 40n)
  t.deepEqual(links(story.build({ failed: true }), 'w'), [link('w COIN', 100n, 100n)])
})

test('balances without an owner, as in 2021, and amounts above u64 leave no link (K7, K8)', (t) => {
  const tx = coins('w').transfer('w COIN', 'v COIN', 40n).build()
  const without = (balances: Transaction['preTokenBalances']) =>
    balances.map((balance) => ({ ...balance, owner: null }))
  const old = {
    ...tx,
    tokenOwners: [],
    preTokenBalances: without(tx.preTokenBalances),
    postTokenBalances: without(tx.postTokenBalances),
  }
  t.deepEqual(links(old, 'w'), [])
  const [first, ...others] = tx.postTokenBalances
  const wrong = { ...first!, amount: 2n ** 64n }
  t.deepEqual(links({ ...tx, postTokenBalances: [wrong, ...others] }, 'w'), [])
})

test('the links of any transaction add up to the change of balances of the wallet (K8, B2)', (t) => {
  fc.assert(
    fc.property(actions, (list) => {
      const tx = storyOf(list).build()
      const owner = addressOf('w')
      const sum = (balances: Transaction['preTokenBalances']) =>
        balances.reduce((all, b) => (b.owner === owner ? all + b.amount : all), 0n)
      const changed = links(tx, 'w').reduce((all, { before, after }) => all + after - before, 0n)
      t.is(changed, sum(tx.postTokenBalances) - sum(tx.preTokenBalances))
    }),
    { numRuns: 200 },
  )
})
