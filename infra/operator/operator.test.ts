import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Accounts } from '../../api/accounts/accounts.ts'
import { type ApiKey, hashApiKey } from '../../api/accounts/api-key.ts'
import { createMemoryChannel } from '../../api/channel/account-channel.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import { address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { commandOutcome, ROOT, startOperator } from '../whole-service/service-process.ts'
import { dryRunOf, failureOf, helpOf, portableArgs, runCommand } from './commands.ts'
import type { OperatorParts } from './parts.ts'
import type { Progress } from './progress.ts'
import { refoldWallets } from './recompute.ts'
import { askOperator, serveOperator } from './socket.ts'
import { type OpenedOperator, openOperator } from './testing/open-operator.ts'

const logger = createLogger('silent')
const CUSTOMER = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const TRACKED = [
  address('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'),
  address('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'),
]

let operator: OpenedOperator
let parts: OperatorParts
let store: Store

test.before(async () => {
  operator = await openOperator()
  parts = operator.parts
  store = operator.store
})
test.after.always(() => operator.close())

const run = (...args: string[]) => operator.run(...args)
const refused = (...args: string[]) => operator.refused(...args)

test.serial('an account is made once, credited, and its books agree (rule J3)', async (t) => {
  const { document } = await run('account', 'create', '--wallet', CUSTOMER, '--credits', '500')
  const { api_key, ...rest } = document as { api_key: string }
  t.regex(api_key, /^tw_[1-9A-HJ-NP-Za-km-z]{36,50}$/)
  t.deepEqual(rest as object, { wallet: CUSTOMER, balance_credits: 500 })
  t.is(
    await refused('account', 'create', '--wallet', CUSTOMER, '--credits', '1'),
    'account_exists: this wallet already has an account',
  )
  const credit = ['account', 'credit', '--wallet', CUSTOMER, '--credits', '-20']
  t.deepEqual(await run(...credit, '--reason', 'typing error'), {
    document: { wallet: CUSTOMER, balance_credits: 480 },
  })

  // An operator who got no response repeats the command with the key in the error: it is added
  // once.
  const goodwill = portableArgs([...credit.slice(0, -1), '100', '--reason', 'goodwill'])
  const lost = { code: 'unreachable', message: 'the connection to the service was lost' } as const
  t.is(
    failureOf(lost, goodwill).message,
    `the connection to the service was lost; with --key ${goodwill.at(-1)} the command can be repeated and credits once`,
  )
  t.deepEqual(portableArgs(goodwill), goodwill)
  t.deepEqual(failureOf(lost, ['wallets']), lost)
  const refusal = { code: 'account_not_found', message: 'this wallet has no account' } as const
  t.deepEqual(failureOf(refusal, goodwill), refusal)
  // The first time the meter does not answer, but the credits are added.
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
    'invalid_argument: --key: already used for 100 credits',
  )
  // Credits never fall below zero or below what a feed connection holds. Of two concurrent commands
  // that together take too much, one succeeds.
  const held = { connection: 'c', sequence: 1, spent: 0, wanted: 79 }
  await operator.meter.renewBlock(CUSTOMER, held)
  const take = (credits: string) => [...credit.slice(0, -1), credits, '--reason', 'mistaken']
  const tooMuch = (left: string) =>
    `invalid_argument: --credits: ${left} left to subtract; credits reserved by feed connections return when they close`
  t.is(await refused(...take('-502')), tooMuch('501 are'))
  const outcomes = await Promise.allSettled([run(...take('-500')), run(...take('-500'))])
  t.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.is(await refused(...take('-2')), tooMuch('1 is'))
  await operator.meter.renewBlock(CUSTOMER, { ...held, sequence: 2, wanted: 0 })
  t.like(await run(...take('-80')), { document: { balance_credits: 0 } })
  t.is(await refused(...take('-1')), tooMuch('0 are'))
  t.deepEqual(await run('ledger', 'check'), {
    document: { accounts: 1, mismatches: [] },
    failed: false,
  })
})

test.serial('an account is shown and listed without its key (rule J3)', async (t) => {
  const { document: shown } = await run('account', 'show', '--wallet', CUSTOMER)
  const { created_at, api_key_created_at, api_key_last4, ...rest } = shown as Record<
    string,
    unknown
  >
  t.true(Math.abs(Number(created_at) - Date.now() / 1000) < 600)
  t.is(api_key_created_at, created_at)
  t.regex(String(api_key_last4), /^.{4}$/)
  t.deepEqual(rest, {
    wallet: CUSTOMER,
    api_key_rotated_at: null,
    disabled_at: null,
    balance_credits: 0,
    plan: null,
    plan_expires_at: null,
    top_ups: [],
  })
  const other = 'So11111111111111111111111111111111111111112'
  await parts.accounts.ensure(address(other))
  const list = async (...options: string[]) => {
    const { document } = await run('account', 'list', ...options)
    const { items } = document as { items: Record<string, unknown>[] }
    return items.map(({ wallet, api_key_last4 }) => [wallet, api_key_last4])
  }
  t.deepEqual(await list(), [
    [other, null],
    [CUSTOMER, api_key_last4],
  ])
  t.deepEqual(await list('--limit', '1'), [[other, null]])
  t.deepEqual(await list('--after', other), [[CUSTOMER, api_key_last4]])
  t.is(
    await refused('account', 'show', '--wallet', TRACKED[0] ?? ''),
    'account_not_found: this wallet has no account',
  )
})

test.serial('a rotated key is invalid at once, in every process (rules E3, J3)', async (t) => {
  const told: unknown[] = []
  const channel = async () => ({
    ...createMemoryChannel(),
    rotated: async (...news: unknown[]) => void told.push(news),
  })
  const rotate = async (...options: string[]) => {
    const args = ['account', 'rotate', '--wallet', CUSTOMER, ...options]
    const { document } = await runCommand(args, { ...parts, channel }, () => {})
    return document as { api_key: string; replaced_key_last4: string }
  }
  const accountOf = async (key: string) =>
    (await parts.accounts.findKey(hashApiKey(key as ApiKey)))?.account ?? null
  const first = await rotate()
  t.deepEqual(await rotate('--dry-run'), {
    wallet: CUSTOMER,
    replaced_key_last4: first.api_key.slice(-4),
    dry_run: true,
  } as never)
  t.is(await accountOf(first.api_key), CUSTOMER)
  const second = await rotate()
  t.is(second.replaced_key_last4, first.api_key.slice(-4))
  t.is(await accountOf(first.api_key), null)
  t.is(await accountOf(second.api_key), CUSTOMER)
  t.deepEqual(told.at(-1), [CUSTOMER, hashApiKey(first.api_key as ApiKey)])
  t.deepEqual(
    await store.query(
      'SELECT wallet, kind, network, toUInt32(count()) AS events FROM account_events FINAL GROUP BY ALL',
    ),
    [{ wallet: CUSTOMER, kind: 'key_rotated', network: 'operator', events: 2 }],
  )
  t.is(
    await refused('account', 'rotate', '--wallet', TRACKED[0] ?? ''),
    'account_not_found: this wallet has no account',
  )
})

test.serial(
  'named keys are listed, and deleted at once in every process (rules L15, J3)',
  async (t) => {
    const told: unknown[] = []
    const channel = async () => ({
      ...createMemoryChannel(),
      keyDeleted: async (...news: unknown[]) => void told.push(news),
    })
    const terms = {
      name: 'server 2',
      scopes: ['feed'],
      allowedAddresses: [],
      expiresAt: null,
    } as const
    const created = await parts.accounts.namedKeys.create(CUSTOMER, terms)
    const { id = '', createdAt = 0, sha256, last4 } = created?.key ?? {}
    const item = {
      id,
      name: 'server 2',
      last4,
      scopes: ['feed'],
      allowed_addresses: null,
      created_at: Math.floor(createdAt / 1000),
      expires_at: null,
    }
    const list = async () => (await run('account', 'keys', '--wallet', CUSTOMER)).document
    t.deepEqual(await list(), { wallet: CUSTOMER, items: [item] })
    const remove = async (...options: string[]) => {
      const args = ['account', 'keys', 'delete', '--wallet', CUSTOMER, '--id', id, ...options]
      return (await runCommand(args, { ...parts, channel }, () => {})).document
    }
    t.deepEqual(await remove('--dry-run'), { wallet: CUSTOMER, ...item, dry_run: true })
    t.deepEqual(told, [])
    t.deepEqual(await remove(), { wallet: CUSTOMER, ...item })
    t.deepEqual(await remove(), { wallet: CUSTOMER, ...item }, 'repeated, it announces again')
    t.deepEqual(told, Array(2).fill([CUSTOMER, sha256]))
    t.deepEqual(await list(), { wallet: CUSTOMER, items: [] })
    t.is(await parts.accounts.findKey(sha256 ?? ''), null)
    t.deepEqual(
      await store.query(
        `SELECT network, toUInt32(count()) AS events FROM account_events FINAL
       WHERE kind = 'key_deleted' GROUP BY ALL`,
      ),
      [{ network: 'operator', events: 1 }],
    )
    t.is(
      await refused('account', 'keys', 'delete', '--wallet', CUSTOMER, '--id', 'x', '--dry-run'),
      'invalid_argument: --id: this account has no named key with this id',
    )
    t.is(
      await refused('account', 'keys', '--wallet', TRACKED[0] ?? ''),
      'account_not_found: this wallet has no account',
    )
  },
)

test.serial(
  'an account is disabled and enabled, and that is announced (rules E3, J3)',
  async (t) => {
    const announced: unknown[] = []
    const channel = async () => ({
      ...createMemoryChannel(),
      accessChanged: async (...change: unknown[]) => void announced.push(change),
    })
    const set = async (verb: string) => {
      const args = ['account', verb, '--wallet', CUSTOMER, '--reason', 'unpaid bill']
      const { document } = await runCommand(args, { ...parts, channel }, () => {})
      return document as { wallet: string; disabled_at: number | null }
    }
    const shown = async () => (await run('account', 'show', '--wallet', CUSTOMER)).document
    const before = await shown()
    const { disabled_at } = await set('disable')
    t.true(Math.abs(Number(disabled_at) - Date.now() / 1000) < 600)
    t.deepEqual(await shown(), { ...(before as object), disabled_at })
    const { items } = (await run('account', 'list')).document as { items: { wallet: string }[] }
    t.like(
      items.find(({ wallet }) => wallet === CUSTOMER),
      { disabled_at },
    )
    // Repeated, it announces again, in case the first announcement was lost.
    t.deepEqual(await set('disable'), { wallet: CUSTOMER, disabled_at })
    await run('account', 'rotate', '--wallet', CUSTOMER)
    t.true(await parts.accounts.isDisabled(CUSTOMER), 'a new key changes nothing')
    t.deepEqual(await set('enable'), { wallet: CUSTOMER, disabled_at: null })
    t.false(await parts.accounts.isDisabled(CUSTOMER))
    t.deepEqual(announced, [
      [CUSTOMER, true],
      [CUSTOMER, true],
      [CUSTOMER, false],
    ])
    t.is(
      await refused('account', 'disable', '--wallet', TRACKED[0] ?? ''),
      'account_not_found: this wallet has no account',
    )
  },
)

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
    'invalid_argument: no such command: account debit (there is account create, account credit, account confirm, account show, account list, account rotate, account keys delete, account keys, account disable, account enable)',
  )
  t.is(await refused(), 'invalid_argument: no command was given (--help lists them)')
  t.is(
    await refused('recompute', '--wallet', 'W1', '--wallet=W2'),
    'invalid_argument: --wallet: given more than once',
  )
})

test('an option without its value is refused, and never takes the next option for it', async (t) => {
  const rotate = ['account', 'rotate', '--wallet', CUSTOMER, '--reason']
  const noReason = 'invalid_argument: --reason: expected a text'
  t.is(await refused(...rotate), noReason)
  t.is(await refused(...(dryRunOf(rotate) ?? [])), noReason)
  const credit = ['account', 'credit', '--wallet', CUSTOMER, '--credits', '5', '--reason', 'x']
  t.is(
    await refused(...portableArgs([...credit, '--key'])),
    'invalid_argument: --key: given more than once',
  )
  t.regex(await refused(...credit, '--key', '--confirm=1'), /^invalid_argument: Option '--key'/)
})

test('a command refuses a folder without a database, and makes none there (rule J3)', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'operator-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const give = (...args: string[]) => {
    const command = startOperator({ DATA_DIR: dataDir }, args)
    t.teardown(() => command.kill())
    return commandOutcome(command)
  }
  t.deepEqual(await give('wallets'), {
    code: 1,
    document: {
      code: 'bad_config',
      message: `DATA_DIR: ${dataDir} has no database; set DATA_DIR to the folder of the service, or CLICKHOUSE_URL to its server`,
    },
  })
  t.false(existsSync(dataDir))
  t.deepEqual(await give('migrate'), { code: 0, document: { schema: 'up_to_date' } })
  t.deepEqual(await give('wallets'), { code: 0, document: { items: [] } })
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
    give('probe', '--\u009b31m\u202e', 'x'),
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
    usage('programs', 'Ranks programs that no decoder knows.'),
  )
  t.is(helpOf(['sql', 'help']), null)
})

test('every command is described in commands.md', (t) => {
  const described = readFileSync(join(ROOT, 'infra/operator/commands.md'), 'utf8')
  const usages = (helpOf(['help']) ?? '').match(/^ {2}\S.*$/gm) ?? []
  const names = usages.map((usage) => usage.trim().split(/ (?=[<[(-])/)[0] ?? '')
  t.true(names.includes('account create'))
  t.deepEqual(
    names.filter((name) => !described.includes(`\`${name} `) && !described.includes(`\`${name}\``)),
    [],
  )
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
  await trackWallets(store, TRACKED, 'wallets.txt')
  t.deepEqual(await run('wallets'), {
    document: {
      items: TRACKED.map((tracked, at) => ({
        alias: `W${at + 1}`,
        address: tracked,
        first_event_at: null,
        last_event_at: null,
        complete_since: null,
        verified_through_slot: null,
        open_breaks: 0,
        unexplained_breaks: 0,
        gaps: [],
      })),
    },
  })
})

test.serial(
  'wallets are only added: a changed or missing one is refused, named by its alias',
  async (t) => {
    const track = (addresses: readonly (typeof TRACKED)[number][]) =>
      trackWallets(store, addresses, 'wallets.txt').catch((error: ServiceError) => error.message)
    t.is(await track([...TRACKED, address(CUSTOMER)]), 1)
    t.is(
      await track([...TRACKED].reverse()),
      'WALLETS_FILE: wallets.txt differs from the stored wallets: W1 has another address; lines may only be added at the end',
    )
    t.is(
      await track(TRACKED),
      'WALLETS_FILE: wallets.txt differs from the stored wallets: W3 is missing; lines may only be added at the end',
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
  t.is(
    await refused('recompute', '--wallet', 'all'),
    'unavailable: no process with role workers runs: start one, and run the command again',
  )
  const deaf = await operator.log.consume({ mode: 'shared', group: 'fold' }, async () => {})
  const unheard = await t.throwsAsync(
    refoldWallets(parts, [1], () => {}, 1),
    {
      instanceOf: ServiceError,
    },
  )
  t.is(unheard?.code, 'unavailable')
  t.regex(unheard?.message ?? '', /^no fold worker answers: 0 of 1 wallets are folded/)
  await deaf.close()

  const fold = await startFold({
    store,
    log: operator.log,
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
    await store.query(
      'SELECT wallet, toString(revision) AS revision FROM wallet_metrics FINAL ORDER BY wallet',
    ),
    // The first request for W1 was not carried out: both ask for its first revision.
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
  await unread.consume({ mode: 'shared', group: 'fold' }, async () => {})
  const server = await serveOperator(
    folder,
    (args, report, stop) => runCommand(args, { ...parts, log: async () => unread, stop }, report),
    logger,
  )
  let begun: () => void = () => {}
  const isUnderWay = new Promise<void>((resolve) => {
    begun = resolve
  })
  const answer = askOperator(folder, ['recompute', '--wallet', 'all'], () => begun())
  await isUnderWay
  await server.close()
  t.deepEqual(await answer, {
    kind: 'error',
    code: 'closed',
    message: 'stopped before all wallets were folded; run the command again',
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
  'programs behind swaps without a name are ranked by SOL and by swaps, with a sample (rule J3)',
  async (t) => {
    const swap = (slot: number, program_id: string, sol: number | null, program = 'unknown') => ({
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
      program,
      program_id,
      confidence: program === 'pumpswap' ? 'high' : 'delta_only',
      value_lamports: sol === null ? null : String(sol * 1e9),
      quote_mismatch: false,
      fee_lamports: 0,
    })
    await store.insert('swaps', [
      swap(1, 'often', 1.5),
      swap(2, 'often', null),
      swap(6, 'often', 0.25),
      swap(3, 'large', 40),
      swap(4, 'known', 7, 'pumpswap'),
      swap(7, 'labelled', 7, 'hadron'),
    ])
    const undecodedRow = { tx_index: 1, wallet: 1, reason: 'deep_tree' }
    await store.insert('undecoded', [
      { ...undecodedRow, slot: 3, block_time: 3, signature: 's3', program_id: 'lately' },
      { ...undecodedRow, slot: 5, block_time: 5, signature: 's5', program_id: null },
      { ...undecodedRow, slot: 8, block_time: 8, signature: 's8', program_id: 'often' },
    ])
    t.deepEqual(await run('programs'), {
      document: {
        items: [
          {
            program_id: 'large',
            rank_by_sol: 1,
            rank_by_swaps: 2,
            sol_volume: 40,
            swaps: 1,
            undecoded: 0,
            events: 1,
            sample_signature: 's3',
          },
          {
            program_id: 'often',
            rank_by_sol: 2,
            rank_by_swaps: 1,
            sol_volume: 1.75,
            swaps: 3,
            undecoded: 1,
            events: 4,
            sample_signature: 's8',
          },
          {
            program_id: 'lately',
            rank_by_sol: 3,
            rank_by_swaps: 3,
            sol_volume: 0,
            swaps: 0,
            undecoded: 1,
            events: 1,
            sample_signature: 's3',
          },
        ],
      },
    })
  },
)
