import test from 'ava'
import { assignDeposit } from '../../api/billing/assign.ts'
import { redeemPlans } from '../../api/billing/subscriptions.ts'
import { address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { OperatorParts } from './parts.ts'
import { type OpenedOperator, openOperator } from './testing/open-operator.ts'

/*
 * The commands about deposits. Each test goes on with the deposits and accounts of those before it.
 */

const CUSTOMER = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const PAYER = 'So11111111111111111111111111111111111111112'
const STRANGER = 'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'
const UNKNOWN = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'

let operator: OpenedOperator
let parts: OperatorParts
let store: Store

test.before(async () => {
  operator = await openOperator()
  parts = operator.parts
  store = operator.store
  await parts.accounts.ensure(address(CUSTOMER))
})
test.after.always(() => operator.close())

const SIGNATURE =
  '5UfDuX7WXYgbPjuSGfzU4kTJ4W4F6qWjVrwkM7TTKzWq2XNSGmUkYMWzmPXQ9uLU8t1N3kqzjvF8oQk2rG4tHk3n'
/** Signatures of several transactions, in ASCII order. */
const signature = (n: number) => `${SIGNATURE.slice(0, -1)}${'123456789ABC'[n]}`

/** A row of table `deposits`. `amount` is in raw units of USDT. */
const row = (n: number, wallet: string, purpose: string, amount: number, finalized = 1) => ({
  wallet,
  purpose,
  signature: signature(n),
  slot: 100 + n,
  tx_index: 0,
  block_time: 1_790_000_000,
  amount,
  finalized,
  seen_at: '2026-11-01 00:00:00',
})

/** Signature, reason and USDT of what `deposits --unmatched` lists. */
async function unmatched(...options: string[]) {
  const { document } = await operator.run('deposits', '--unmatched', ...options)
  const { items } = document as { items: Record<string, unknown>[] }
  return items.map(({ signature, reason, amount_usdt }) => [signature, reason, amount_usdt])
}

/** The arguments of `deposits assign` for the transaction `n`. */
function assign(n: number, purpose: string, wallet: string = CUSTOMER): string[] {
  const command = ['deposits', 'assign', '--signature', signature(n)]
  return [...command, '--wallet', wallet, '--purpose', purpose]
}

/** A ledger entry of the customer for a deposit. */
const entry = (key: string, credits: number) =>
  ({ account: CUSTOMER, key, credits, cause: 'deposit', reason: '' }) as const
/** The idempotency key under which a payment check redeems a deposit. */
const keyOf = (n: number, wallet: string, purpose: string) =>
  `deposit:${signature(n)}:${wallet}:${purpose}`

test.serial('deposits that bought nothing are listed with the reason', async (t) => {
  await store.insert('deposits', [
    row(0, PAYER, 'pro', 50_000_000),
    row(1, PAYER, 'credits', 3_000_999),
    row(2, CUSTOMER, 'credits', 1_000_000),
    row(3, CUSTOMER, 'pro', 4_999_999),
    row(4, CUSTOMER, 'pro', 5_000_000, 0),
    row(5, '', 'pro', 0),
    row(6, PAYER, 'credits', 10_000_000),
    row(6, CUSTOMER, 'credits', 20_000_000),
  ])
  t.deepEqual(await unmatched(), [
    [signature(6), 'no_account', 10],
    [signature(6), 'not_checked', 20],
    [signature(5), 'unreadable', 0],
    [signature(4), 'not_finalized', 5],
    [signature(3), 'no_plan', 4.999999],
    [signature(2), 'not_checked', 1],
    [signature(1), 'no_account', 3.000999],
    [signature(0), 'no_plan', 50],
  ])
  t.deepEqual((await unmatched('--before', '103', '--min', '3.000999')).slice(0, 2), [
    [signature(1), 'no_account', 3.000999],
    [signature(0), 'no_plan', 50],
  ])
  t.is(
    await operator.refused('deposits', '--unmatched', '--before', 'now', '--min', '1e3'),
    'invalid_argument: --before: expected a slot; --min: expected USDT, for example 0.5',
  )
})

test.serial('a deposit is assigned to an account once', async (t) => {
  const { run, refused } = operator
  const before = await parts.ledger.add({ ...entry('before', 1), cause: 'grant' })
  // What it would buy is shown before, and a plan can be named whatever its price.
  const dry = { signature: signature(3), wallet: CUSTOMER, purpose: 'pro', dry_run: true }
  t.deepEqual((await run(...assign(3, 'pro'), '--plan', 'monthly', '--dry-run')).document, {
    ...dry,
    amount_usdt: 4.999999,
    plan: 'monthly',
    days: 30,
    price_usdt: 49,
  })
  t.like((await run(...assign(3, 'credits'), '--dry-run')).document, { credits: 4999 })
  t.is(
    await refused(...assign(3, 'pro'), '--plan', 'yearly'),
    'invalid_argument: --plan: there is no such plan, only trial, monthly',
  )
  t.is(
    await refused(...assign(3, 'credits'), '--plan', 'trial'),
    'invalid_argument: --plan: only with --purpose pro',
  )
  // A payment for Pro that matches no plan buys the dearest plan that it pays for.
  const pro = (await run(...assign(0, 'pro'))).document as { plan: string; expires_at: number }
  t.is(pro.plan, 'monthly')
  t.true(Math.abs(pro.expires_at - Date.now() / 1000 - 30 * 86_400) < 60)
  t.deepEqual((await run(...assign(1, 'credits'))).document, {
    signature: signature(1),
    wallet: CUSTOMER,
    purpose: 'credits',
    credits: 3000,
    balance_credits: before + 3000,
  })
  // This deposit was paid for Pro and is redeemed for credits.
  t.like((await run(...assign(3, 'credits'))).document, { credits: 4999 })
  // Two wallets paid in this transaction: the account's own payment is redeemed.
  t.like((await run(...assign(6, 'credits'))).document, { credits: 20_000 })
  for (const n of [0, 1, 3, 6]) {
    for (const purpose of ['pro', 'credits'])
      t.regex(await refused(...assign(n, purpose)), /^already_redeemed: /)
  }
  t.regex(await refused(...assign(4, 'pro')), /^invalid_argument: /)
  t.regex(await refused(...assign(7, 'pro')), /^deposit_not_found: /)
  t.regex(await refused(...assign(2, 'credits', UNKNOWN)), /^account_not_found: /)
  t.regex(await refused(...assign(2, 'pro')), /^invalid_argument: /) // one USDT buys no plan
  t.deepEqual(
    (await unmatched()).map(([signature, reason]) => [signature, reason]),
    [
      [signature(6), 'no_account'],
      [signature(5), 'unreadable'],
      [signature(4), 'not_finalized'],
      [signature(2), 'not_checked'],
    ],
  )
  t.like((await run('ledger', 'check')).document, { mismatches: [] })
})

test.serial('an assignment that was killed is finished by the same command alone', async (t) => {
  const { run, refused } = operator
  const dying = {
    ...parts,
    ledger: { addAll: () => Promise.reject(new Error('killed')) } as never,
  }
  await t.throwsAsync(
    assignDeposit(dying, {
      signature: signature(2),
      account: address(CUSTOMER),
      purpose: 'credits',
    }),
    { message: 'killed' },
  )
  t.like(await unmatched(), { 3: [signature(2), 'assignment_unfinished', 1] })
  t.regex(await refused(...assign(2, 'pro')), /^already_redeemed: /)
  t.like((await run(...assign(2, 'credits'))).document, { credits: 1000 })
  t.regex(await refused(...assign(2, 'credits')), /^already_redeemed: /)
})

test.serial('a wallet does not get what another wallet paid in its transaction', async (t) => {
  const { run, refused } = operator
  await parts.accounts.ensure(address(PAYER))
  const [own, again] = await Promise.allSettled([
    run(...assign(6, 'credits', PAYER)),
    run(...assign(6, 'credits', CUSTOMER)),
  ])
  t.like(own, { value: { document: { credits: 10_000 } } })
  t.like(again, { reason: { code: 'already_redeemed' } })
  // The same holds if a payment check has redeemed the wallet's own payment.
  await store.insert('deposits', [
    row(8, PAYER, 'credits', 1_000_000),
    row(8, CUSTOMER, 'credits', 2_000_000),
  ])
  await parts.ledger.add(entry(keyOf(8, CUSTOMER, 'credits'), 2000))
  t.regex(await refused(...assign(8, 'credits')), /^already_redeemed: /)
  t.like((await run(...assign(8, 'credits', PAYER))).document, { credits: 1000 })
})

test.serial('a payment check and an assignment at the same moment redeem once', async (t) => {
  // The check redeems the deposit before the command has the account's lock. The command does not
  // take another payment of the transaction instead.
  await store.insert('deposits', [
    row(10, PAYER, 'credits', 3_000_000),
    row(10, STRANGER, 'pro', 7_000_000),
  ])
  const slow: OperatorParts['locks'] = {
    async withLock(account, task) {
      const redeemed = entry(keyOf(10, PAYER, 'credits'), 3000)
      await parts.ledger.add({ ...redeemed, account: PAYER })
      return parts.locks.withLock(account, task)
    },
  }
  const account = address(CUSTOMER)
  const wanted = { signature: signature(10), account, purpose: 'credits' } as const
  await t.throwsAsync(assignDeposit({ ...parts, locks: slow }, wanted), {
    code: 'already_redeemed',
  })
  t.deepEqual(
    (await unmatched()).filter(([found]) => found === signature(10)).map(([, reason]) => reason),
    ['no_plan'],
  )

  // A check that has lost its lock redeems the deposit while the command stores its decision.
  await store.insert('deposits', [row(9, PAYER, 'credits', 5_000_000)])
  const late = keyOf(9, PAYER, 'credits')
  const insert: Store['insert'] = async (table, rows) => {
    await store.insert(table, rows)
    if (table === 'deposit_assignments')
      await parts.ledger.add({ ...entry(late, 5000), account: PAYER })
  }
  await t.throwsAsync(
    assignDeposit(
      { ...parts, store: { ...store, insert } },
      { signature: signature(9), account, purpose: 'credits' },
    ),
    { code: 'already_redeemed' },
  )
  t.deepEqual(
    await store.query(
      "SELECT wallet FROM ledger_entries FINAL WHERE idempotency_key = {late:String} AND NOT startsWith(wallet, '!')",
      { late },
    ),
    [{ wallet: PAYER }],
  )
})

test.serial('a named plan is bought whatever its price', async (t) => {
  await store.insert('deposits', [row(7, PAYER, 'pro', 48_000_000)])
  const plan = ['--plan', 'monthly']
  const before = await store.query('SELECT count() AS rows FROM deposit_assignments')
  t.like((await operator.run(...assign(7, 'pro', PAYER), ...plan, '--dry-run')).document, {
    amount_usdt: 48,
    plan: 'monthly',
  })
  t.deepEqual(await store.query('SELECT count() AS rows FROM deposit_assignments'), before)
  t.like((await operator.run(...assign(7, 'pro', PAYER), ...plan)).document, { plan: 'monthly' })
  t.regex(await operator.refused(...assign(7, 'pro', PAYER), ...plan), /^already_redeemed: /)
})

test.serial('an assignment that loses its lock writes nothing more', async (t) => {
  await store.insert('deposits', [row(11, PAYER, 'pro', 6_000_000)])
  let isLost = false
  const require = () => {
    if (isLost) throw new ServiceError('unavailable', 'lost', { retriable: true })
  }
  const losing: OperatorParts = {
    ...parts,
    locks: { withLock: (_account, task) => task({ requireHeld: require }) },
    store: {
      ...store,
      async insert(table, rows) {
        await store.insert(table, rows)
        isLost = table === 'deposit_assignments'
      },
    },
  }
  for (const purpose of ['credits', 'pro'] as const) {
    isLost = false
    const last = { signature: signature(11), account: address(CUSTOMER), purpose }
    const code = purpose === 'credits' ? 'unavailable' : 'already_redeemed'
    await t.throwsAsync(assignDeposit(losing, last), { code })
  }
  t.like(await unmatched(), { 0: [signature(11), 'assignment_unfinished', 6] })
  t.like((await operator.run(...assign(11, 'credits'))).document, { credits: 6000 })
})

test.serial('ledger check reports a deposit that was redeemed for two accounts', async (t) => {
  const { run } = operator
  t.like(await run('ledger', 'check'), { document: { mismatches: [] }, failed: false })
  const late = keyOf(9, PAYER, 'credits')
  await parts.ledger.add(entry(late, 5000))
  // It also reports a deposit that bought Pro for one of the accounts.
  await redeemPlans(
    store,
    CUSTOMER,
    [0, 1].map((n) => ({
      key: keyOf(n, PAYER, 'pro'),
      plan: parts.prices.plans[0]!,
      amount: 5_000_000n,
    })),
    Date.now(),
    { requireHeld() {} },
  )
  await parts.ledger.add(entry(keyOf(1, PAYER, 'pro'), 3000))
  t.deepEqual(await run('ledger', 'check'), {
    document: {
      accounts: 2,
      mismatches: [
        {
          what: 'redeemed_twice',
          key: keyOf(1, PAYER, 'pro'),
          accounts: [CUSTOMER, CUSTOMER],
        },
        { what: 'redeemed_twice', key: late, accounts: [PAYER, CUSTOMER] },
      ],
    },
    failed: true,
  })
})

test.serial(
  'dust payments of other wallets hide no payment; an unreadable payment is listed until it is credited',
  async (t) => {
    const dust = (at: number) => ({
      wallet: `dust${at}`,
      purpose: 'credits',
      signature: `d${at}`,
      tx_index: at,
      amount: 1,
      // The first page has more than a thousand rows, because it ends with a whole slot.
      slot: at < 998 ? 10_000 + at : 9999,
      block_time: 1_790_000_000,
      finalized: 1,
      seen_at: '2026-11-01 00:00:00',
    })
    const real = { ...dust(0), wallet: 'real', signature: 'real', slot: 9000, amount: 70_000_000 }
    const unreadable = { ...real, wallet: '', signature: 'unread', slot: 9001, amount: 0 }
    await store.insert('deposits', [
      ...Array.from({ length: 1010 }, (_, at) => dust(at)),
      real,
      unreadable,
    ])
    const list = async (...options: string[]) => {
      const { document } = await operator.run('deposits', '--unmatched', ...options)
      const { total, items } = document as { total: number; items: Record<string, unknown>[] }
      return { total, signatures: items.map(({ signature }) => signature) }
    }
    const first = await list()
    t.is(first.signatures.length, 1010)
    t.true(first.total >= 1012)
    const next = await list('--before', '9999')
    t.deepEqual(next.signatures.slice(0, 2), ['unread', 'real'])
    t.is(next.total, first.total - 1010)
    t.deepEqual((await list('--min', '70')).signatures.slice(0, 2), ['unread', 'real'])

    const credit = ['account', 'credit', '--wallet', CUSTOMER, '--reason', 'seen by hand']
    await operator.run(...credit, '--credits', '5', '--key', 'unread')
    t.deepEqual((await list('--before', '9999')).signatures.slice(0, 1), ['real'])
  },
)
