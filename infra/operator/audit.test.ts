import test from 'ava'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { address } from '../../pipeline/domain/address.ts'
import { insertSnapshots } from '../../pipeline/store/tables/balance-snapshots.ts'
import { breakWriter, type ChainBreak } from '../../pipeline/store/tables/chain-breaks.ts'
import { insertDecodedRows } from '../../pipeline/store/tables/decoded-rows.ts'
import { createWalletCoverage } from '../../pipeline/store/tables/wallet-coverage.ts'
import { insertVerifications } from '../../pipeline/store/tables/wallet-verifications.ts'
import { adoptSalt } from '../../pipeline/workers/fold/privacy-salt.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { runCommand } from './commands.ts'
import type { OperatorParts } from './parts.ts'

/*
 * What operators and analysts learn about completeness (rule K8).
 */

const ACCOUNT = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'
const TRACKED = [
  address('vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'),
  address('So11111111111111111111111111111111111111112'),
  address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
]
const HOUR = 1_800_000_000
const SALT = 'a salt of this test'

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
let parts: OperatorParts

test.before(async () => {
  opened = await openEmbeddedStore()
  const { store } = opened
  await trackWallets(store, TRACKED, 'wallets.txt')
  await createWalletCoverage(store).begin([1, 2, 3], { slot: 90, time: HOUR - 100 })
  const sol = { account: '', mint: '', slot: 100, amount: 5n }
  await insertSnapshots(store, [
    { ...sol, wallet: 1 },
    { ...sol, wallet: 2 },
  ])
  const row = { tx_index: 0, lamports: 5n, lamports_before: 5n }
  await insertDecodedRows(store, 'sol_balances', [
    { ...row, wallet: 1, slot: 200, block_time: HOUR + 40 },
    { ...row, wallet: 2, slot: 210, block_time: HOUR + 44 },
  ])
  await insertVerifications(store, [2], { slot: 250, blockTime: HOUR + 60 })
  await breakWriter(store)([
    aBreak({}),
    aBreak({ slot: 180, account: '', mint: '', state: 'unexplained', tries: 3 }),
    aBreak({ slot: 190, state: 'accepted', cause: 'no_owner' }),
    aBreak({ slot: 195, state: 'closed' }),
  ])
  // The cast is safe: the commands in these tests use only these parts.
  parts = { store, caller: { user: 'ann', uid: 1000 } } as unknown as OperatorParts
})
test.after.always(() => opened.remove())

function aBreak(fields: Partial<ChainBreak>): ChainBreak {
  return {
    wallet: 1,
    account: ACCOUNT,
    mint: 'a mint',
    slot: 170,
    txIndex: 2,
    blockTime: HOUR + 30,
    from: { slot: 160, txIndex: 1 },
    fromTime: HOUR + 20,
    expected: 500n,
    found: 300n,
    state: 'open',
    cause: '',
    tries: 0,
    openedAt: HOUR + 50,
    changedAt: HOUR + 55,
    ...fields,
  }
}

const item = {
  alias: 'W1',
  mint: 'a mint',
  state: 'open',
  cause: null,
  from_slot: 160,
  to_slot: 170,
  amount: '-200',
  tries: 0,
  opened_at: HOUR + 50,
  changed_at: HOUR + 55,
}

const run = async (...args: string[]) =>
  (await runCommand(args, parts, () => {})).document as { items: Record<string, unknown>[] }

test.serial('audit lists breaks without the addresses of accounts (K8, I1)', async (t) => {
  const unexplained = { ...item, mint: null, state: 'unexplained', to_slot: 180, tries: 3 }
  t.deepEqual(await run('audit'), {
    items: [unexplained, item, { ...item, state: 'accepted', cause: 'no_owner', to_slot: 190 }],
  })
  t.deepEqual(await run('audit', '--state', 'closed'), {
    items: [{ ...item, state: 'closed', to_slot: 195 }],
  })
  t.deepEqual(await run('audit', '--limit', '1'), { items: [unexplained] })
})

test.serial(
  'wallets are verified through their newest link or comparison, and up to a break (K8)',
  async (t) => {
    const { items } = await run('wallets')
    const verified = items.map((found) => [
      found.verified_through_slot,
      found.open_breaks,
      found.unexplained_breaks,
    ])
    t.deepEqual(verified, [
      [160, 1, 1],
      [250, 0, 0],
      [null, 0, 0],
    ])
  },
)

test.serial('analysts see the same times, in full hours with a salt (K8, I2a)', async (t) => {
  const { store } = opened
  const read = () =>
    store.query(
      'SELECT wallet, complete_since, verified_through, open_breaks, unexplained_breaks FROM analyst.coverage ORDER BY wallet',
    )
  const row = { complete_since: HOUR - 100, open_breaks: 0, unexplained_breaks: 0 }
  const broken = { open_breaks: 1, unexplained_breaks: 1 }
  t.deepEqual(await read(), [
    { ...row, ...broken, wallet: 'W1', verified_through: HOUR + 20 },
    { ...row, wallet: 'W2', verified_through: HOUR + 60 },
    { ...row, wallet: 'W3', verified_through: null },
  ])
  await adoptSalt(store, SALT)
  t.deepEqual(await read(), [
    { ...row, ...broken, wallet: 'W1', complete_since: HOUR, verified_through: HOUR },
    { ...row, wallet: 'W2', complete_since: HOUR, verified_through: HOUR },
    { ...row, wallet: 'W3', complete_since: HOUR, verified_through: null },
  ])
})
