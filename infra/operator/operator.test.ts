import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Accounts } from '../../api/accounts/accounts.ts'
import { assignDeposit } from '../../api/billing/assign.ts'
import { redeemPlans } from '../../api/billing/subscriptions.ts'
import { billingEnv, pricesOf } from '../../api/billing/terms.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import type { Meter } from '../../api/credits/meter.ts'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { createTurns } from '../../api/turns.ts'
import { address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { createMoney, openMeter } from '../service/money.ts'
import { ROOT, startOperator } from '../whole-service/service-process.ts'
import { failureOf, helpOf, portableArgs, runCommand } from './commands.ts'
import type { OperatorParts } from './parts.ts'
import type { Progress } from './progress.ts'
import { refoldWallets } from './recompute.ts'
import { askOperator, serveOperator } from './socket.ts'

const logger = createLogger('silent')
const CUSTOMER = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const TRACKED = [
  address('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'),
  address('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'),
]

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
let parts: OperatorParts
let log: EventLog
let meter: Meter

test.before(async () => {
  opened = await openEmbeddedStore()
  const { store } = opened
  log = createMemoryLog({ logger, registry: createRegistry() }, { retryDelayMs: 1 })
  meter = await openMeter({ kind: 'memory' }, logger)
  parts = {
    store,
    log: async () => log,
    solPriceMaxAgeSeconds: 3600,
    salt: null,
    readerUrl: null,
    backfills: () => Promise.reject(new Error('no RPC here')),
    stop: new AbortController().signal,
    caller: { user: 'ann', uid: 1000 },
    confirmAboveCredits: 100_000,
    prices: pricesOf(readEnv(billingEnv, {})),
    turns: createTurns(null),
    ...createMoney(store, meter, logger, null),
  }
})
test.after.always(async () => {
  await log.close()
  await opened.drop()
})

const run = (...args: string[]) => runCommand(args, parts, () => {})

/** The code and message with which a command is refused. */
const refused = async (...args: string[]) => {
  const error = await run(...args).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${args.join(' ')}`)
  return `${error.code}: ${error.message}`
}

test.serial('an account is made once, credited, and its books agree (rule J3)', async (t) => {
  const { document } = await run('account', 'create', '--wallet', CUSTOMER, '--credits', '500')
  const { api_key, ...rest } = document as { api_key: string }
  t.regex(api_key, /^tw_[1-9A-HJ-NP-Za-km-z]{36,50}$/)
  t.deepEqual(rest as object, { wallet: CUSTOMER, balance_credits: 500 })
  t.is(
    await refused('account', 'create', '--wallet', CUSTOMER, '--credits', '1'),
    'account_exists: this wallet has an account already',
  )
  const credit = ['account', 'credit', '--wallet', CUSTOMER, '--credits', '-20']
  t.deepEqual(await run(...credit, '--reason', 'typing error'), {
    document: { wallet: CUSTOMER, balance_credits: 480 },
  })

  // An operator who got no answer repeats the command with the key in the error: it is added once.
  const goodwill = portableArgs([...credit.slice(0, -1), '100', '--reason', 'goodwill'])
  const lost = { code: 'unreachable', message: 'the service went away' } as const
  t.is(
    failureOf(lost, goodwill).message,
    `the service went away; with --key ${goodwill.at(-1)} the same command credits once, however often`,
  )
  t.deepEqual(portableArgs(goodwill), goodwill)
  t.deepEqual(failureOf(lost, ['wallets']), lost)
  const refusal = { code: 'account_not_found', message: 'this wallet has no account' } as const
  t.deepEqual(failureOf(refusal, goodwill), refusal)
  // The first time the meter does not answer, but the credits are added.
  const { store } = opened
  const away = { epoch: () => Promise.reject(new Error('away')) } as never
  const ledger = new Ledger({ store, meter: away })
  const unanswered = { ...parts, accounts: new Accounts({ store, ledger }) }
  for (const [balance_credits, of] of [
    [null, unanswered],
    [580, parts],
    [580, parts],
  ] as const)
    t.deepEqual(await runCommand(goodwill, of, () => {}), {
      document: { wallet: CUSTOMER, balance_credits },
    })
  t.is(
    await refused(...goodwill.map((word) => (word === '100' ? '1000' : word))),
    'invalid_argument: --key: was used for 100 credits',
  )
  // Credits never fall below zero or below what a feed connection holds. Of two concurrent commands
  // that together take too much, one succeeds.
  const held = { connection: 'c', sequence: 1, spent: 0, wanted: 79 }
  await meter.renewBlock(CUSTOMER, held)
  const take = (credits: string) => [...credit.slice(0, -1), credits, '--reason', 'mistaken']
  const tooMuch = (left: string) =>
    `invalid_argument: --credits: ${left} left to take away; what connections of the feed hold comes back when they end`
  t.is(await refused(...take('-502')), tooMuch('501 are'))
  const outcomes = await Promise.allSettled([run(...take('-500')), run(...take('-500'))])
  t.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.is(await refused(...take('-2')), tooMuch('1 is'))
  await meter.renewBlock(CUSTOMER, { ...held, sequence: 2, wanted: 0 })
  t.like(await run(...take('-80')), { document: { balance_credits: 0 } })
  t.is(await refused(...take('-1')), tooMuch('0 are'))
  t.deepEqual(await run('ledger', 'check'), {
    document: { accounts: 1, mismatches: [] },
    failed: false,
  })
})

test('an error names every argument at fault', async (t) => {
  t.is(
    await refused('account', 'create', '--wallet', 'me', '--credits', '1.5'),
    'invalid_argument: --wallet: expected a base58 address of 32 bytes; --credits: expected an integer from 0 to 1000000000000',
  )
  t.is(await refused('account', 'create', '--credits', '1'), 'invalid_argument: --wallet: required')
  t.is(
    await refused(
      'account',
      'credit',
      '--wallet',
      TRACKED[0] ?? '',
      '--credits',
      '1',
      '--reason',
      'x',
    ),
    'account_not_found: this wallet has no account',
  )
  t.is(
    await refused('account', 'debit'),
    'invalid_argument: no such command: account debit (there is account create, account credit, account confirm)',
  )
  t.is(await refused(), 'invalid_argument: no command was given (--help lists them)')
  t.is(
    await refused('recompute', '--wallet', 'W1', '--wallet=W2'),
    'invalid_argument: --wallet: is given more than once',
  )
})

test('help is plain text; a mistake prints a short document, and the usage on stderr (rule J3)', async (t) => {
  const give = async (...args: string[]) => {
    const command = startOperator({}, args)
    t.teardown(() => command.kill())
    return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() }
  }
  const usage = (command: string, summary: string) =>
    [
      'usage: npm run -s operator -- COMMAND',
      `  ${command}`,
      `      ${summary}`,
      'Details and output of each command: infra/operator/commands.md\n',
    ].join('\n')
  const check = usage(
    'ledger check',
    'Compares the ledger with the meter, and looks for deposits redeemed twice.',
  )
  const [help, mistake, controls] = await Promise.all([
    give('--help'),
    give('ledger'),
    give('wallets', '--\u009b31m\u202e', 'x'),
  ])
  t.is(help.code, 0)
  t.is(help.stdout, `${helpOf(['help'])}\n`)
  t.true(help.stdout.split('\n').length > 12 && help.stdout.includes('\n  ledger check\n'))
  t.deepEqual(mistake, {
    code: 1,
    stdout:
      '{"code":"invalid_argument","message":"no such command: ledger (there is ledger check)"}\n',
    stderr: check,
  })
  t.regex(controls.stdout, /--\\u009b31m\\u202e/)
  t.is(`${helpOf(['ledger', 'check', '-h'])}\n`, check)
  t.is(
    `${helpOf(['help', 'programs'])}\n`,
    usage('programs', 'Lists programs that no decoder knows.'),
  )
  t.is(helpOf(['sql', 'help']), null)
})

test('npm run builds the project only if there is no build yet', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-'))
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: object
  }
  write('package.json', JSON.stringify({ type: 'module', scripts }))
  for (const name of ['operator', 'servers']) {
    const main = `dist/infra/${name}/main.js`
    const build = `mkdir -p dist/infra/${name}; echo 'console.log("built", process.argv[2])' > ${main}`
    write('node_modules/.bin/tsc', `#!/bin/sh\n${build}\n`)
    const start = () => {
      const options = { cwd: folder, encoding: 'utf8' as const }
      return execFileSync('npm', ['run', '-s', name, '--', 'wallets'], options)
    }
    t.is(start(), 'built wallets\n')
    write(main, 'console.log("as it was", process.argv[2])')
    t.is(start(), 'as it was wallets\n')
  }
  rmSync(folder, { recursive: true })
})

test.serial('wallets lists the tracked wallets, also those without events', async (t) => {
  await trackWallets(opened.store, TRACKED, 'wallets.txt')
  t.deepEqual(await run('wallets'), {
    document: {
      items: TRACKED.map((tracked, at) => ({
        alias: `W${at + 1}`,
        address: tracked,
        first_event_at: null,
        last_event_at: null,
        complete_since: null,
        gaps: [],
      })),
    },
  })
})

test.serial(
  'wallets are only added: a changed or missing one is refused, named by its alias',
  async (t) => {
    const track = (addresses: readonly (typeof TRACKED)[number][]) =>
      trackWallets(opened.store, addresses, 'wallets.txt').catch(
        (error: ServiceError) => error.message,
      )
    t.is(await track([...TRACKED, address(CUSTOMER)]), 1)
    t.is(
      await track([...TRACKED].reverse()),
      'WALLETS_FILE: wallets.txt changes what is known: W1 is another address than before; lines may only be added at the end',
    )
    t.is(
      await track(TRACKED),
      'WALLETS_FILE: wallets.txt changes what is known: W3 is missing; lines may only be added at the end',
    )
  },
)

test.serial('recompute waits until the wallets are folded again (rules J3, K4)', async (t) => {
  t.is(
    await refused('recompute', '--wallet', 'w3'),
    'invalid_argument: --wallet: expected an alias, for example W3, or all',
  )
  t.is(
    await refused('recompute', '--wallet', 'W9'),
    'wallet_not_found: --wallet: W9 is not tracked',
  )
  const unheard = await t.throwsAsync(
    refoldWallets(parts, [1], () => {}, 1),
    {
      instanceOf: ServiceError,
    },
  )
  t.is(unheard?.code, 'unavailable')
  t.regex(unheard?.message ?? '', /^no fold worker answers: 0 of 1 wallets are folded/)

  const fold = await startFold({
    store: opened.store,
    log,
    logger,
    registry: createRegistry(),
    onBug: (error) => t.fail(String(error)),
  })
  const reports: Progress[] = []
  t.deepEqual(await runCommand(['recompute', '--wallet', 'all'], parts, (p) => reports.push(p)), {
    document: { wallets: 3 },
  })
  t.deepEqual(reports.at(0), { what: 'wallets', done: 0, total: 3 })
  t.deepEqual(reports.at(-1), { what: 'wallets', done: 3, total: 3 })
  t.deepEqual(await run('recompute', '--wallet', 'W2'), { document: { wallets: 1 } })
  t.deepEqual(
    await opened.store.query(
      'SELECT wallet, intDiv(version, 4294967296) AS revision FROM wallet_metrics FINAL ORDER BY wallet',
    ),
    // The first request for W1 came before there was a worker: both ask for its first revision.
    [
      { wallet: 1, revision: '1' },
      { wallet: 2, revision: '2' },
      { wallet: 3, revision: '1' },
    ],
  )
  await fold.stop()
})

test.serial('a process that stops ends its running commands (rule J5)', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'operator-'))
  const unread = createMemoryLog({ logger, registry: createRegistry() })
  const server = await serveOperator(
    folder,
    (args, report, stop) => runCommand(args, { ...parts, log: async () => unread, stop }, report),
    logger,
  )
  let begun: () => void = () => {}
  const isUnderWay = new Promise<void>((resolve) => {
    begun = resolve
  })
  const asked = askOperator(folder, ['recompute', '--wallet', 'all'], () => begun())
  await isUnderWay
  await server.close()
  t.deepEqual(await asked, {
    kind: 'error',
    code: 'closed',
    message: 'stopped before all wallets were folded; run it again',
  })
  await unread.close()
  rmSync(folder, { recursive: true })
})

test('a DATA_DIR with too long a socket path is refused, and no other path is tried', async (t) => {
  await t.throwsAsync(
    askOperator(`/${'long/'.repeat(20)}`, ['wallets'], () => {}),
    {
      message:
        'DATA_DIR: the path of its operator.sock is longer than 103 bytes; choose a shorter one',
    },
  )
})

test('commands reach the process that owns the data through its socket', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'operator-'))
  const ask = (...args: string[]) => askOperator(folder, args, () => {})
  t.is(await ask('wallets'), null)
  const logged: string[] = []
  const server = await serveOperator(
    folder,
    (args, report) => runCommand(args, parts, report),
    createLogger('warn', { write: (line) => logged.push(line) }),
  )
  t.is(statSync(join(folder, 'operator.sock')).mode & 0o777, 0o600)
  t.deepEqual(await ask('sql', 'SELECT 1 AS one'), {
    kind: 'done',
    outcome: { document: { items: [{ one: 1 }] } },
  })
  const answer = await ask('sql', 'DROP TABLE swaps')
  t.deepEqual(answer, {
    kind: 'error',
    code: 'invalid_argument',
    message: answer?.kind === 'error' ? answer.message : '',
  })
  t.like(JSON.parse(logged.join()), { command: 'sql', code: 'invalid_argument' })
  t.false(logged.join().includes('DROP'))
  await server.close()
  t.is(await ask('wallets'), null)
  rmSync(folder, { recursive: true })
})

test.serial(
  'unknown programs are listed with a sample, the most recently seen first (rule J3)',
  async (t) => {
    const swap = (slot: number, program_id: string, confidence: string) => ({
      slot,
      tx_index: 0,
      wallet: 1,
      event_index: 0,
      block_time: slot,
      signature: `s${slot}`,
      side: 'buy',
      base_mint: 'mint',
      base_amount: '1',
      base_decimals: 0,
      quote_mint: null,
      quote_amount: '0',
      program: 'unknown',
      program_id,
      confidence,
      quote_mismatch: false,
      fee_lamports: 0,
    })
    await opened.store.insert('swaps', [
      swap(1, 'often', 'delta_only'),
      swap(2, 'often', 'delta_only'),
      swap(4, 'known', 'high'),
    ])
    const place = { tx_index: 1, wallet: 1, reason: 'deep_tree' }
    await opened.store.insert('undecoded', [
      { ...place, slot: 3, block_time: 3, signature: 's3', program_id: 'lately' },
      { ...place, slot: 5, block_time: 5, signature: 's5', program_id: null },
    ])
    t.deepEqual(await run('programs'), {
      document: {
        items: [
          { program_id: 'lately', events: 1, sample_signature: 's3' },
          { program_id: 'often', events: 2, sample_signature: 's2' },
        ],
      },
    })
  },
)

const SIGNATURE =
  '5UfDuX7WXYgbPjuSGfzU4kTJ4W4F6qWjVrwkM7TTKzWq2XNSGmUkYMWzmPXQ9uLU8t1N3kqzjvF8oQk2rG4tHk3n'
/** Signatures of several transactions, in ASCII order. */
const signature = (n: number) => `${SIGNATURE.slice(0, -1)}${'123456789ABC'[n]}`

test.serial(
  'deposits that bought nothing are listed with the reason, and assigned to an account once',
  async (t) => {
    const [payer, other] = ['So11111111111111111111111111111111111111112', CUSTOMER]
    await parts.accounts.ensure(address(other))
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
    await opened.store.insert('deposits', [
      row(0, payer, 'pro', 50_000_000),
      row(1, payer, 'credits', 3_000_999),
      row(2, other, 'credits', 1_000_000),
      row(3, other, 'pro', 4_999_999),
      row(4, other, 'pro', 5_000_000, 0),
      row(5, '', 'pro', 0),
      row(6, payer, 'credits', 10_000_000),
      row(6, other, 'credits', 20_000_000),
    ])
    const unmatched = async (...options: string[]) => {
      const { document } = await run('deposits', '--unmatched', ...options)
      const { items } = document as { items: Record<string, unknown>[] }
      return items.map(({ signature, reason, amount_usdt }) => [signature, reason, amount_usdt])
    }
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
      await refused('deposits', '--unmatched', '--before', 'now', '--min', '1e3'),
      'invalid_argument: --before: expected a slot; --min: expected USDT, for example 0.5',
    )
    const assign = (n: number, purpose: string, wallet: string = other) => [
      'deposits',
      'assign',
      '--signature',
      signature(n),
      '--wallet',
      wallet,
      '--purpose',
      purpose,
    ]
    const before = await parts.ledger.add({
      account: other,
      key: 'before',
      credits: 1,
      cause: 'grant',
      reason: '',
    })
    // A payment for Pro that matches no plan buys the dearest plan that it pays for.
    const pro = (await run(...assign(0, 'pro'))).document as { plan: string; expires_at: number }
    t.is(pro.plan, 'monthly')
    t.true(Math.abs(pro.expires_at - Date.now() / 1000 - 30 * 86_400) < 60)
    t.deepEqual((await run(...assign(1, 'credits'))).document, {
      signature: signature(1),
      wallet: other,
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
    t.regex(await refused(...assign(2, 'credits', TRACKED[0])), /^account_not_found: /)
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

    // After a kill behind the stored decision only the same command can finish the assignment.
    const dying = {
      ...parts,
      ledger: { addAll: () => Promise.reject(new Error('killed')) } as never,
    }
    await t.throwsAsync(
      assignDeposit(dying, {
        signature: signature(2),
        account: address(other),
        purpose: 'credits',
      }),
      { message: 'killed' },
    )
    t.like(await unmatched(), { 3: [signature(2), 'assignment_unfinished', 1] })
    t.regex(await refused(...assign(2, 'pro')), /^already_redeemed: /)
    t.like((await run(...assign(2, 'credits'))).document, { credits: 1000 })
    t.regex(await refused(...assign(2, 'credits')), /^already_redeemed: /)

    // A wallet whose payment in a transaction is redeemed does not get the other wallet's payment
    // too, even if a payment check redeemed its own.
    await parts.accounts.ensure(address(payer))
    const [own, again] = await Promise.allSettled([
      run(...assign(6, 'credits', payer)),
      run(...assign(6, 'credits', other)),
    ])
    t.like(own, { value: { document: { credits: 10_000 } } })
    t.like(again, { reason: { code: 'already_redeemed' } })
    await opened.store.insert('deposits', [
      row(8, payer, 'credits', 1_000_000),
      row(8, other, 'credits', 2_000_000),
    ])
    const key = `deposit:${signature(8)}:${other}:credits`
    const entry = { account: other, key, credits: 2000, cause: 'deposit', reason: '' } as const
    await parts.ledger.add(entry)
    t.regex(await refused(...assign(8, 'credits')), /^already_redeemed: /)
    t.like((await run(...assign(8, 'credits', payer))).document, { credits: 1000 })

    // A payment check redeems the deposit before the command has the account's lock. The command
    // does not take another payment of the transaction instead.
    const pair = [row(10, payer, 'credits', 3_000_000), row(10, TRACKED[1] ?? '', 'pro', 7_000_000)]
    await opened.store.insert('deposits', pair)
    const slow: OperatorParts['turns'] = {
      async take(account, task) {
        const key = `deposit:${signature(10)}:${payer}:credits`
        await parts.ledger.add({ ...entry, account: payer, key, credits: 3000 })
        return parts.turns.take(account, task)
      },
    }
    const wanted = {
      signature: signature(10),
      account: address(other),
      purpose: 'credits',
    } as const
    await t.throwsAsync(assignDeposit({ ...parts, turns: slow }, wanted), {
      code: 'already_redeemed',
    })
    t.deepEqual(
      (await unmatched()).filter(([found]) => found === signature(10)).map(([, reason]) => reason),
      ['no_plan'],
    )

    // A payment check that has lost its lock works on the deposit at the same moment.
    await opened.store.insert('deposits', [row(9, payer, 'credits', 5_000_000)])
    const late = `deposit:${signature(9)}:${payer}:credits`
    const insert: typeof opened.store.insert = async (table, rows) => {
      await opened.store.insert(table, rows)
      if (table === 'deposit_assignments')
        await parts.ledger.add({ ...entry, account: payer, key: late, credits: 5000 })
    }
    await t.throwsAsync(
      assignDeposit(
        { ...parts, store: { ...opened.store, insert } },
        { signature: signature(9), account: address(other), purpose: 'credits' },
      ),
      { code: 'already_redeemed' },
    )
    t.deepEqual(
      await opened.store.query(
        'SELECT wallet FROM ledger_entries FINAL WHERE idempotency_key = {late:String}',
        { late },
      ),
      [{ wallet: payer }],
    )

    // The lock is lost after the decision was stored: nothing more is written, and the same command
    // finishes the assignment.
    await opened.store.insert('deposits', [row(11, payer, 'pro', 6_000_000)])
    let isLost = false
    const require = () => {
      if (isLost) throw new ServiceError('unavailable', 'lost', { retriable: true })
    }
    const losing: OperatorParts = {
      ...parts,
      turns: { take: (_account, task) => task({ require }) },
      store: {
        ...opened.store,
        async insert(table, rows) {
          await opened.store.insert(table, rows)
          isLost = table === 'deposit_assignments'
        },
      },
    }
    for (const purpose of ['credits', 'pro'] as const) {
      isLost = false
      const last = { signature: signature(11), account: address(other), purpose }
      const code = purpose === 'credits' ? 'unavailable' : 'already_redeemed'
      await t.throwsAsync(assignDeposit(losing, last), { code })
    }
    t.like(await unmatched(), { 0: [signature(11), 'assignment_unfinished', 6] })
    t.like((await run(...assign(11, 'credits'))).document, { credits: 6000 })

    // If a deposit is redeemed for two accounts all the same, `ledger check` reports it, also if
    // one of the two bought Pro.
    t.like(await run('ledger', 'check'), { document: { mismatches: [] }, failed: false })
    await parts.ledger.add({ ...entry, account: other, key: late, credits: 5000 })
    const now = Date.now()
    const keyOf = (n: number) => `deposit:${signature(n)}:${payer}:pro`
    await redeemPlans(
      opened.store,
      other,
      [0, 1].map((n) => ({ key: keyOf(n), plan: parts.prices.plans[0]!, amount: 5_000_000n })),
      now,
      { require() {} },
    )
    await parts.ledger.add({ ...entry, account: other, key: keyOf(1), credits: 3000 })
    t.deepEqual(await run('ledger', 'check'), {
      document: {
        accounts: 2,
        mismatches: [
          { what: 'redeemed_twice', key: keyOf(1), accounts: [other, other] },
          { what: 'redeemed_twice', key: late, accounts: [payer, other] },
        ],
      },
      failed: true,
    })
  },
)

test.serial(
  'a stranger who pays dust hides no payment; an unreadable payment is listed until it is credited',
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
    await opened.store.insert('deposits', [
      ...Array.from({ length: 1010 }, (_, at) => dust(at)),
      ...[real, unreadable],
    ])
    const list = async (...options: string[]) => {
      const { document } = await run('deposits', '--unmatched', ...options)
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
    await run(...credit, '--credits', '5', '--key', 'unread')
    t.deepEqual((await list('--before', '9999')).signatures.slice(0, 1), ['real'])
  },
)
