import test from 'ava'
import fc from 'fast-check'
import type { z } from 'zod'
import { parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import { encodeBase58 } from '../../pipeline/domain/base58.ts'
import { creditsFor as creditsOfService } from '../billing/terms.ts'
import { EXAMPLE_WALLET } from '../items/wallet-metrics.ts'
import { declaredResources } from '../testing/declared-resources.ts'
import { accountEventText, networkText } from './page/account/event-text.ts'
import { type KeyForm, keyTerms } from './page/account/key-terms.ts'
import { webhookChange, webhookTerms } from './page/account/webhook-terms.ts'
import {
  cursorAfter,
  filterText,
  needsOwner,
  outcomeText,
  webhookStatusText,
} from './page/account/webhook-text.ts'
import {
  creditsForPayment,
  formatCredits,
  formatLongDuration,
  formatUnits,
  formatUtcTime,
  groupThousands,
  parseUnits,
  solanaPayUrl,
  unitsFromNumber,
} from './page/amounts.ts'
import { parseTopUpAmount } from './page/billing/top-up-amount.ts'
import { isAlias, isTokenAddress } from './page/data/identifiers.ts'
import { matchPath, parseHash } from './page/hash-location.ts'
import type * as Answers from './page/responses.ts'

/*
 * Modules of the page that need no browser, compared with the code of the service.
 */

const MINT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'

test('amounts are parsed and formatted exactly, and invalid amounts are null', (t) => {
  const read = (text: string) => parseUnits(text, 6)
  t.deepEqual(
    ['10', '12.5', '0.000001', ' 49 ', '9007199254.740993', '999999999999999999'].map(read),
    [
      10_000_000n,
      12_500_000n,
      1n,
      49_000_000n,
      9_007_199_254_740_993n,
      999_999_999_999_999_999_000_000n,
    ],
  )
  const none = [
    '',
    '0',
    '0.0',
    '-1',
    '+1',
    '1e3',
    '1.',
    '.5',
    '1,5',
    '1 000',
    '0.0000001',
    'x',
    '١',
    '1'.repeat(19),
  ]
  t.deepEqual(
    none.map(read),
    none.map(() => null),
  )
  t.deepEqual(
    [0n, 1n, 1_000_000n, 12_500_000n, -1_500_000n, 9_007_199_254_740_993n].map((units) =>
      formatUnits(units, 6),
    ),
    ['0', '0.000001', '1', '12.5', '-1.5', '9007199254.740993'],
  )
  t.is(formatUnits(15n, 0), '15')
  t.deepEqual(
    [5, 49, 0.1, 0.000001, 4.35].map((usdt) => unitsFromNumber(usdt, 6)),
    [5_000_000n, 49_000_000n, 100_000n, 1n, 4_350_000n],
  )
})

test('a formatted amount parses to the same units, with any decimals', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 18n - 1n),
      fc.integer({ min: 0, max: 18 }),
      (units, decimals) => {
        t.is(parseUnits(formatUnits(units, decimals), decimals), units)
      },
    ),
  )
})

test('the page computes the same credits for a payment as the service', (t) => {
  t.is(creditsForPayment(10_000_000n, 6, 1000), 10_000n)
  t.is(creditsForPayment(1_999n, 6, 1000), 1n)
  t.is(creditsForPayment(999n, 6, 1000), 0n)
  const rate = fc.integer({ min: 1, max: 10_000_000_000 }).map((millionths) => millionths / 1e6)
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 13n), rate, (units, creditsPerUsdt) => {
      const given = creditsOfService(units, { creditsPerUsdt, plans: [] })
      fc.pre(Number.isSafeInteger(given))
      t.is(creditsForPayment(units, 6, creditsPerUsdt), BigInt(given))
    }),
  )
})

test('an amount that cannot be sent or buys no credit is refused with a reason', (t) => {
  const plans = (credits_per_usdt: number): Answers.PlansResponse => ({
    payment_addresses: { pro_access: MINT, api_credits: MINT },
    usdt_mint: MINT,
    usdt_decimals: 6,
    credits_per_usdt,
    plans: [],
  })
  const cases: readonly [string, number, bigint | null, string][] = [
    ['10', 1000, 10_000_000n, 'You get 10,000 credits, at 1,000 credits per USDT.'],
    ['0.001', 1000, 1000n, 'You get 1 credit, at 1,000 credits per USDT.'],
    ['0.000999', 1000, null, 'The minimum is 0.001 USDT, the price of 1 credit.'],
    ['0.3', 3, null, 'The minimum is 0.333334 USDT, the price of 1 credit.'],
    ['1', 0.1, null, 'The minimum is 10 USDT, the price of 1 credit.'],
    ['18446744073709.551616', 1000, null, 'The maximum is 18,446,744,073,709 USDT.'],
    ['', 1000, null, 'Enter an amount such as 10 or 12.50, with at most 6 decimals.'],
  ]
  for (const [text, rate, units, message] of cases)
    t.deepEqual(parseTopUpAmount(text, plans(rate)), { units, message }, text)
  t.is(parseTopUpAmount('18446744073709.551615', plans(1000)).units, 2n ** 64n - 1n)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (millionths) => {
      const rate = millionths / 1e6
      const { message } = parseTopUpAmount('0.000001', plans(rate))
      const [, least = '0.000001'] = /minimum is ([0-9.]+) USDT/.exec(message) ?? []
      const units = parseUnits(least, 6) ?? 0n
      t.true(creditsForPayment(units, 6, rate) > 0n)
      t.is(creditsForPayment(units - 1n, 6, rate), 0n)
    }),
  )
})

test('the page accepts the same token addresses and aliases as the service', (t) => {
  const bytes = fc.uint8Array({ minLength: 28, maxLength: 36 })
  fc.assert(
    fc.property(fc.oneof(bytes.map(encodeBase58), fc.string({ maxLength: 50 })), (text) => {
      t.is(isTokenAddress(text), parseAddress(text) !== null)
    }),
  )
  for (const text of [MINT, '1'.repeat(32), '1'.repeat(33), `${MINT} `, '0'.repeat(32), 'xyz', ''])
    t.is(isTokenAddress(text), parseAddress(text) !== null, text)
  for (const text of ['W1', 'W999', 'W0', 'W01', 'w1', 'W', 'W1234567890', '<b>', ''])
    t.is(isAlias(text), parseAlias(text) !== null, text)
})

test('integers, credits, durations and times are formatted for people', (t) => {
  t.deepEqual([0, 999, 1000, -49_000, 12_345_678n].map(groupThousands), [
    '0',
    '999',
    '1,000',
    '-49,000',
    '12,345,678',
  ])
  t.deepEqual([0, 1, 49_000].map(formatCredits), ['0 credits', '1 credit', '49,000 credits'])
  t.deepEqual([0, 1, 61, 3600, 90_061, 2_592_000, 100_000_000].map(formatLongDuration), [
    'less than a second',
    '1 second',
    '1 minute 1 second',
    '1 hour',
    '1 day 1 hour',
    '30 days',
    '1,157 days 9 hours',
  ])
  t.is(formatUtcTime(1_790_000_000), '2026-09-21 14:13 UTC')
})

test('a Solana Pay URL names the token, and the amount if there is one', (t) => {
  const payment = {
    to: '3aWPWLqyxMRUWt8tgd6cZ7jpGVmEutJs1TRyUtRc8zZj',
    mint: MINT,
    label: 'API credits',
  }
  t.is(
    solanaPayUrl({ ...payment, amount: '12.5' }),
    `solana:${payment.to}?amount=12.5&spl-token=${MINT}&label=API%20credits`,
  )
  t.is(
    solanaPayUrl({ ...payment, amount: null }),
    `solana:${payment.to}?spl-token=${MINT}&label=API%20credits`,
  )
})

test('a URL hash is parsed to a path and a query, and a pattern gives the parameters of a path', (t) => {
  const path = (hash: string) => parseHash(hash).path
  t.deepEqual(['', '#', '#main', '#/', '#/wallets/W1?page=2'].map(path), [
    '/',
    '/',
    '/',
    '/',
    '/wallets/W1',
  ])
  t.is(parseHash('#/wallets?page=2').query.get('page'), '2')
  t.deepEqual(matchPath('/wallets/:alias', '/wallets/W1'), { alias: 'W1' })
  t.deepEqual(matchPath('/wallets/:alias', '/wallets/%3Cb%3E'), { alias: '<b>' })
  t.deepEqual(matchPath('/wallets/:alias', '/wallets/%'), { alias: '%' })
  for (const other of ['/wallets', '/wallets/', '/wallets/W1/', '/tokens/W1', '/'])
    t.is(matchPath('/wallets/:alias', other), null, other)
})

test('security events are described, and unknown kinds are shown by name', (t) => {
  t.is(accountEventText({ kind: 'signed_in', count: 1 }), 'Signed in')
  t.is(
    accountEventText({ kind: 'key_refused', count: 12 }),
    'Request refused: a replaced, deleted or expired API key was used (12 times within an hour)',
  )
  t.is(accountEventText({ kind: 'newer' as 'signed_in', count: 1 }), 'newer')
  t.deepEqual(['192.0.2.0/24', 'other'].map(networkText), ['192.0.2.0/24', 'Other networks'])
})

const A_KEY: Answers.ApiKeyEntry = {
  id: '6f1c1a52-94a5-4f0e-9d52-0b7d1f6f8e11',
  name: '',
  last4: '',
  scopes: ['read'],
  allowed_addresses: ['192.0.2.0/24'],
  created_at: 0,
  expires_at: null,
  last_used_at: null,
}

test('the form of a new key becomes the body of its request, or says what is wrong', (t) => {
  const form: KeyForm = {
    name: ' server 2 ',
    scopes: ['feed'],
    expiresOn: '2026-09-21',
    addresses: '192.0.2.17, 2001:db8::/32',
  }
  const EVE = 1_789_948_800 // 2026-09-21, 00:00 UTC
  t.deepEqual(keyTerms(form, EVE), {
    body: {
      name: 'server 2',
      scopes: ['feed'],
      expires_at: EVE + 86_400,
      allowed_addresses: ['192.0.2.17', '2001:db8::/32'],
    },
    errors: [],
  })
  const open = { ...form, expiresOn: '', addresses: ' ' }
  t.like(keyTerms(open, EVE).body, { expires_at: null, allowed_addresses: null })
  const addresses = '192.0.2.1 '.repeat(21)
  t.deepEqual(keyTerms({ ...form, name: ' ', scopes: [], addresses }, EVE + 86_400).errors, [
    'Enter a name of 1 to 40 characters.',
    'Choose at least one use.',
    'Enter a last day that is not over.',
    'Enter at most 20 addresses.',
  ])
})

const NOON = 1_790_000_000
const A_WEBHOOK: Answers.WebhookEntry = {
  id: '6f1c1a52-94a5-4f0e-9d52-0b7d1f6f8e11',
  url: 'https://bot.example/trades',
  channel: 'trades',
  wallets: ['W1', 'W12'],
  mints: null,
  status: 'active',
  cursor: null,
  failing_since: null,
  created_at: NOON,
}
const A_DELIVERY: Answers.DeliveryEntry = {
  at: NOON,
  id: `${A_WEBHOOK.id}.cursor`,
  kind: 'messages',
  messages: 3,
  attempt: 1,
  status: 200,
  failure: null,
  latency_ms: 84,
}

test('the status of a webhook says why it does not deliver, and whether its owner is told', (t) => {
  const since = NOON - 7200
  const cases: readonly [Partial<Answers.WebhookEntry>, string, boolean][] = [
    [{}, 'Delivering', false],
    [
      { failing_since: NOON - 60 },
      'Failing for 1 minute, since 2026-09-21 14:12 UTC. The delivery is tried again, for a day.',
      false,
    ],
    [
      { failing_since: since },
      'Failing for 2 hours, since 2026-09-21 12:13 UTC. The delivery is tried again, for a day.',
      true,
    ],
    [{ status: 'paused', failing_since: since }, 'Paused by you', false],
    [{ status: 'balance_exhausted' }, 'Waiting for credits', true],
    [
      { status: 'failing', failing_since: since },
      'Paused, because no delivery was accepted since 2026-09-21 12:13 UTC',
      true,
    ],
    [{ status: 'gone' }, 'Paused, because the receiver answered 410 (gone)', true],
    [{ status: 'disabled' }, 'Stopped, because the account is disabled', true],
    [{ status: 'disabled', channel: 'signals' }, 'Stopped, because Pro has ended', true],
  ]
  for (const [part, text, isTold] of cases) {
    const hook = { ...A_WEBHOOK, ...part }
    t.deepEqual([webhookStatusText(hook, NOON), needsOwner(hook, NOON)], [text, isTold])
  }
})

test('the filter of a webhook and the outcome of a delivery are named in words', (t) => {
  t.deepEqual([A_WEBHOOK, { ...A_WEBHOOK, wallets: null, mints: [MINT] }].map(filterText), [
    'Trades of W1, W12, of all tokens',
    `Trades of all wallets, of ${MINT}`,
  ])
  t.is(
    filterText({ ...A_WEBHOOK, channel: 'signals', wallets: null }),
    'Signals (Pro), of all tokens',
  )
  const failed = { ...A_DELIVERY, failure: 'no_answer', status: null } as const
  const refused = { ...A_DELIVERY, failure: 'status', status: 500 } as const
  t.deepEqual([A_DELIVERY, failed, refused].map(outcomeText), [
    'Accepted (200)',
    'No answer within 10 seconds',
    'Not accepted (500)',
  ])
  const aTest = { ...A_DELIVERY, kind: 'test', id: `${A_WEBHOOK.id}.test.1` } as const
  t.deepEqual([A_DELIVERY, failed, aTest].map(cursorAfter), ['cursor', null, null])
})

test('the form of a webhook becomes the body of its request, and a change names what differs', (t) => {
  const form = { url: ' https://bot.example/trades ', wallets: 'w1, W12', mints: '' } as const
  const { url, channel, wallets, mints } = A_WEBHOOK
  const { body, errors } = webhookTerms({ ...form, channel: 'trades' })
  t.deepEqual([body, errors], [{ url, channel, wallets, mints }, []])
  t.deepEqual(webhookChange(A_WEBHOOK, body), {})
  t.deepEqual(webhookChange(A_WEBHOOK, { ...body, url: 'https://a.example/', wallets: null }), {
    url: 'https://a.example/',
    wallets: null,
  })
  t.deepEqual(webhookChange(A_WEBHOOK, { ...body, mints: [MINT] }), { mints: [MINT] })
  t.is(webhookTerms({ ...form, channel: 'signals' }).body.wallets, null)
  t.deepEqual(webhookTerms({ url: 'bot', channel: 'trades', wallets: 'x', mints: 'y' }).errors, [
    'Enter a URL such as https://bot.example/trades.',
    '“X” is not a wallet alias such as W12.',
    '“y” is not a token address.',
  ])
})

test('the response types of the pages match the API documents', (t) => {
  const EXAMPLES: { readonly [path: string]: unknown } = {
    '/me/api': {
      wallet: '',
      api_key: null,
      api_key_last4: '',
      balance_credits: 0,
      reserved_credits: 0,
      api_key_created_at: 0,
      api_key_rotated_at: null,
      last_used_at: null,
    } satisfies Answers.AccountResponse,
    '/me/usage': {
      by: 'hour',
      items: [{ starts_at: 0, credits: 1 }],
    } satisfies Answers.UsageResponse,
    '/me/events': {
      has_more: false,
      next_cursor: null,
      items: [{ kind: 'signed_in', at: 0, network: '', count: 1 }],
    } satisfies Answers.AccountEventsResponse,
    'GET /me/keys': { items: [A_KEY] } satisfies Answers.ApiKeysResponse,
    'POST /me/keys': { ...A_KEY, api_key: '' } satisfies Answers.NewApiKeyResponse,
    'GET /me/webhooks': { items: [A_WEBHOOK] } satisfies Answers.WebhooksResponse,
    'POST /me/webhooks': { ...A_WEBHOOK, secret: '' } satisfies Answers.NewWebhookResponse,
    '/me/webhooks/:id/secret': { ...A_WEBHOOK, secret: '' } satisfies Answers.NewWebhookResponse,
    '/me/webhooks/:id/deliveries': {
      items: [A_DELIVERY],
    } satisfies Answers.DeliveriesResponse,
    '/me/sessions': {
      items: [
        {
          id: '6f1c1a52-94a5-4f0e-9d52-0b7d1f6f8e11',
          created_at: 0,
          expires_at: 1,
          last_used_at: 0,
          network: '',
          is_current: true,
        },
      ],
    } satisfies Answers.SessionsResponse,
    '/me/session-key': { session_key: '', expires_at: 0 } satisfies Answers.SessionKeyResponse,
    '/billing/plans': {
      payment_addresses: { pro_access: MINT, api_credits: MINT },
      usdt_mint: MINT,
      usdt_decimals: 6,
      credits_per_usdt: 1000,
      plans: [{ plan: 'trial', usdt: 5, days: 3 }],
    } satisfies Answers.PlansResponse,
    '/billing/credits/check': {
      credited: 0,
      balance_credits: 0,
    } satisfies Answers.CreditsCheckResponse,
    '/billing/credits/topups': {
      items: [{ tx_signature: '', amount_usdt: 1, credits: 1, created_at: 1 }],
    } satisfies Answers.TopUpsResponse,
    '/billing/pro/payments': {
      items: [
        { tx_signature: '', amount_usdt: 5, plan: '', days: 3, created_at: 1, expires_at: 2 },
      ],
    } satisfies Answers.ProPaymentsResponse,
  }
  for (const resource of declaredResources()) {
    const { path, method = 'GET' } = resource
    const example = EXAMPLES[`${method} ${path}`] ?? EXAMPLES[path]
    if (example === undefined) continue
    t.deepEqual((resource.answer as z.ZodType).parse(example), example, resource.path)
  }
})

test('the type of the leaderboard matches the API document', (t) => {
  const board: Answers.BoardResponse = {
    page: 1,
    page_size: 25,
    total: 1,
    has_more: false,
    as_of: 1790000000,
    items: [
      {
        ...EXAMPLE_WALLET,
        period: { pnl_sol: -1, winrate: null, trades: 1, volume_sol: 1, rank: 1 },
      },
    ],
  }
  const wallets = declaredResources().filter(({ path }) => path === '/wallets')
  t.deepEqual(
    wallets.map(({ answer }) => (answer as z.ZodType).parse(board)),
    [board],
  )
})
