import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { hashApiKey, newApiKey } from '../../api/accounts/api-key.ts'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { loadDataConfig } from '../service/config.ts'
import { createCreditSystem, openMeter } from '../service/credit-system.ts'
import type { RecordedAction } from './audit-log.ts'
import { currentCaller, decodeCaller, encodeCaller } from './caller.ts'
import { helpOf, runCommand } from './commands.ts'
import { confirmationOf, requireConfirmation } from './confirmation.ts'
import type { OperatorParts } from './parts.ts'
import { askOperator, serveOperator } from './socket.ts'

/*
 * The audit log of operator commands, and the code that large changes of credits need.
 */

const logger = createLogger('silent')
const CUSTOMER = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const TRACKED = address('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin')
const ANN = { user: 'ann', uid: 1000 }

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
let parts: OperatorParts

test.before(async () => {
  opened = await openEmbeddedStore()
  const { store } = opened
  await trackWallets(store, [TRACKED], 'wallets.txt')
  const meter = await openMeter({ kind: 'memory' }, logger)
  const used = { store, caller: ANN, confirmAboveCredits: 100_000 }
  // The cast is safe: the commands in these tests use only these parts.
  parts = { ...used, ...createCreditSystem(store, meter, logger, null) } as unknown as OperatorParts
})
test.after.always(() => opened.remove())

const run = (...args: string[]) => runCommand(args, parts, () => {})
const codeOf = (...args: string[]) =>
  run(...args).then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : 'no ServiceError'),
  )
/** The rows of `actions`, newest first, without times. */
const listed = async (limit = 50) => {
  const { document } = await run('actions', '--limit', String(limit))
  const { items } = document as { items: RecordedAction[] }
  return items.map(({ at, ended_at, ...rest }) => rest)
}
const rowsOf = () => opened.store.query<Record<string, unknown>>('SELECT * FROM operator_actions')

test.serial(
  'a command is recorded before and after with user, reason and result, and listed newest first',
  async (t) => {
    const before = Math.floor(Date.now() / 1000)
    const create = ['--wallet', CUSTOMER, '--credits', '500']
    await run('account', 'create', ...create)
    const credit = ['--wallet', CUSTOMER, '--credits', '-20', '--key', 'k1']
    await run('account', 'credit', ...credit, '--reason', 'typing error')
    t.is(await codeOf('account', 'create', ...create, '--reason=again'), 'account_exists')
    const action = { ...ANN, result: 'done', reason: '' }
    t.deepEqual(await listed(), [
      {
        ...action,
        command: 'account create',
        arguments: create,
        reason: 'again',
        result: 'account_exists',
      },
      { ...action, command: 'account credit', arguments: credit, reason: 'typing error' },
      { ...action, command: 'account create', arguments: create },
    ])
    t.is((await listed(1)).length, 1)
    const { document } = await run('actions')
    for (const { at, ended_at } of (document as { items: RecordedAction[] }).items) {
      t.true(at >= before && at <= Number(ended_at))
      t.true(Number(ended_at) <= Date.now() / 1000)
    }
    const steps = await opened.store.query(
      `SELECT result, toUInt32(count()) AS n FROM operator_actions GROUP BY result ORDER BY result`,
    )
    t.deepEqual(steps, [
      { result: 'account_exists', n: 1 },
      { result: 'done', n: 2 },
      { result: 'started', n: 3 },
    ])
  },
)

test.serial(
  'every command that changes data or reveals addresses is recorded, others are not',
  async (t) => {
    const names = (helpOf(['help']) ?? '')
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line))
      .map((line) => line.trim().replace(/ [-['<].*/, ''))
    t.true(names.length > 12)
    const recorded: string[] = []
    for (const name of names) {
      const before = (await listed()).length
      // Every command refuses these arguments.
      t.is(await codeOf(...name.split(' '), '--nothing', 'x'), 'invalid_argument', name)
      const [newest] = await listed()
      if ((await listed()).length === before) continue
      t.like(newest, { command: name, result: 'invalid_argument' })
      recorded.push(name)
    }
    t.deepEqual(recorded, [
      'account create',
      'account credit',
      'account confirm',
      'account show',
      'account list',
      'account rotate',
      'account keys delete',
      'account keys',
      'account disable',
      'account enable',
      'wallets',
      'backfill',
      'recompute',
      'redecode',
      'deposits assign',
      'meter rebuild',
      'reconcile',
      'repartition',
      'backup',
      'export',
      'sql',
    ])
  },
)

test.serial('a command whose first row cannot be stored does not run', async (t) => {
  const wallet = 'So11111111111111111111111111111111111111112'
  const away: OperatorParts = {
    ...parts,
    store: {
      ...opened.store,
      async insert(table, ...rest) {
        if (table === 'operator_actions')
          throw new ServiceError('unavailable', 'away', { retriable: true })
        await opened.store.insert(table, ...rest)
      },
    },
  }
  const create = ['account', 'create', '--wallet', wallet, '--credits', '5']
  await t.throwsAsync(
    runCommand(create, away, () => {}),
    { code: 'unavailable' },
  )
  t.false(await parts.accounts.exists(address(wallet)))
  // If only the second row is lost, the command still returns its result, and the log says
  // `started`.
  let rows = 0
  const losing: OperatorParts = {
    ...parts,
    store: {
      ...opened.store,
      async insert(table, ...rest) {
        if (table === 'operator_actions' && ++rows > 1) throw new Error('away')
        await opened.store.insert(table, ...rest)
      },
    },
  }
  t.like(await runCommand(create, losing, () => {}), { document: { balance_credits: 5 } })
  t.like(await listed(), { 0: { command: 'account create', result: 'started' } })
  t.is(rows, 4)
})

test.serial(
  'the log holds no API key, no address of a tracked wallet and no text of a query',
  async (t) => {
    const key = newApiKey()
    const query = `SELECT count() AS n FROM swaps WHERE signature != '${TRACKED}'`
    await run('sql', query, '--reason', `asked by ${TRACKED}, whose key is ${key}`)
    await codeOf('account', 'credit', '--wallet', TRACKED, '--credits', '5', '--reason', 'x')
    const [credit, sql] = await listed()
    t.deepEqual(credit?.arguments, ['--wallet', 'W1', '--credits', '5'])
    t.like(sql, {
      command: 'sql',
      arguments: [`${query.length} characters, sha256 ${hashApiKey(query)}`],
      reason: 'asked by W1, whose key is tw_...',
      result: 'done',
    })
    const text = JSON.stringify(await rowsOf())
    for (const secret of [key.slice(3), TRACKED, 'signature !=']) t.false(text.includes(secret))
  },
)

test.serial(
  'a command over the socket is recorded with the user of the client process',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'operator-'))
    const server = await serveOperator(
      folder,
      (args, report, _stop, caller) => runCommand(args, { ...parts, caller }, report),
      logger,
    )
    await askOperator(folder, ['wallets'], () => {})
    t.like(await listed(), { 0: { command: 'wallets', ...currentCaller(), result: 'done' } })
    await server.close()
    rmSync(folder, { recursive: true })
    t.deepEqual(decodeCaller(encodeCaller({ user: 'Jörg', uid: 7 })), { user: 'Jörg', uid: 7 })
    for (const bad of [undefined, '', '%', '{}', encodeURIComponent('{"user":7,"uid":-1}')])
      t.deepEqual(decodeCaller(bad), { user: '', uid: null })
  },
)

test.serial(
  'a large change of credits needs the code that `account confirm` prints for exactly this change',
  async (t) => {
    const wallet = 'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'
    const change = ['--wallet', wallet, '--credits', '100001', '--reason', 'contract 7']
    const confirm = async (...args: string[]) => {
      const { document } = await run('account', 'confirm', ...args)
      return (document as { code: string }).code
    }
    const without = await t.throwsAsync(run('account', 'create', ...change))
    t.is(
      without?.message,
      'more than 100000 credits need --reason and --confirm <code>: the command "account confirm" with the same --wallet, --credits and --reason prints the code',
    )
    const code = await confirm(...change)
    t.regex(code, /^[0-9a-f]{4}-[0-9a-f]{4}$/)
    const others = [
      ['--wallet', wallet, '--credits', '100002', '--reason', 'contract 7'],
      ['--wallet', wallet, '--credits', '100001', '--reason', 'contract 8'],
      ['--wallet', CUSTOMER, '--credits', '100001', '--reason', 'contract 7'],
      ['--wallet', wallet, '--credits', '100001'],
    ]
    for (const other of others)
      t.is(await codeOf('account', 'create', ...other, '--confirm', code), 'confirmation_required')
    t.false(await parts.accounts.exists(address(wallet)))
    t.is(await codeOf('account', 'create', ...change, '--confirm', code), 'done')
    t.is(await codeOf('account', 'credit', ...change, '--confirm', 'no'), 'confirmation_required')
    t.is(await codeOf('account', 'credit', ...change, '--confirm', code), 'done')
    const back = ['--wallet', wallet, '--credits', '-200000', '--reason', 'a slip']
    t.is(await codeOf('account', 'credit', ...back), 'confirmation_required')
    const backCode = await confirm(...back)
    t.like(await run('account', 'credit', ...back, '--confirm', backCode), {
      document: { balance_credits: 2 },
    })
    // A change of 100000 credits needs no code here; with a limit of 0 every change does.
    const small = ['--wallet', wallet, '--credits', '100000', '--reason', 'x']
    t.is(await codeOf('account', 'credit', ...small), 'done')
    const strict = { ...parts, confirmAboveCredits: 0 }
    await t.throwsAsync(
      runCommand(['account', 'credit', ...small.with(3, '1')], strict, () => {}),
      { code: 'confirmation_required' },
    )
  },
)

test('a confirmation code is valid for ten to twenty minutes', (t) => {
  const change = { wallet: CUSTOMER, credits: 500_000, reason: 'x' }
  const minute = 60_000
  for (const from of [0, 5 * minute, 10 * minute - 1]) {
    const { code, expiresAt } = confirmationOf(change, from)
    t.is(expiresAt, 1200)
    const isGood = (nowMs: number) => {
      try {
        requireConfirmation(change, code, { above: 100_000, nowMs })
        return true
      } catch {
        return false
      }
    }
    t.deepEqual([from, 20 * minute - 1, 20 * minute].map(isGood), [true, true, false])
  }
})

test('OPERATOR_CONFIRM_CREDITS sets the limit above which a code is needed', (t) => {
  t.is(loadDataConfig({}).confirmAboveCredits, 1_000_000)
  t.is(loadDataConfig({ OPERATOR_CONFIRM_CREDITS: '0' }).confirmAboveCredits, 0)
  t.throws(() => loadDataConfig({ OPERATOR_CONFIRM_CREDITS: '-1' }), { code: 'bad_config' })
})
