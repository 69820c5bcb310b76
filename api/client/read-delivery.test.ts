import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { EXAMPLE_TRADE } from '../items/trade.ts'
import { NotVerified, readDelivery } from './read-delivery.ts'

/*
 * Deliveries signed by the library of the Standard Webhooks specification.
 */

const NOW = 1_790_000_000_000
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const bodyOf = (type: string, messages: readonly object[]) =>
  JSON.stringify({ type, timestamp: '', data: { webhook: 'w', cursor: 'after', messages } })
const BODY = bodyOf('trades', [
  { channel: 'trades', id: '1', trade_id: 'a', data: EXAMPLE_TRADE },
  { channel: 'trades', id: '2', trade_id: 'b', late: true, data: EXAMPLE_TRADE },
  { type: 'retracted', id: '3', trade_id: 'a', data: EXAMPLE_TRADE },
  { type: 'gap', oldest: '4' },
  { type: 'of a newer service' },
])

/** Header fields of a delivery with a signature of each secret. */
function signed(body: string, secrets = [secretOf(1)], at = NOW) {
  const signatures = secrets.map((secret) => new Webhook(secret).sign('d', new Date(at), body))
  return {
    'webhook-id': 'd',
    'webhook-timestamp': String(at / 1000),
    'webhook-signature': signatures.join(' '),
  }
}

const read = (
  headers: Parameters<typeof readDelivery>[1],
  { body = BODY, secret = secretOf(1) } = {},
) => readDelivery(body, headers, secret, { now: () => NOW })

test('a delivery is read as the feed yields its messages, and messages that are not known are left out', async (t) => {
  const delivery = {
    kind: 'trades',
    webhook: 'w',
    cursor: 'after',
    messages: [
      { kind: 'trade', id: '1', tradeId: 'a', late: false, trade: EXAMPLE_TRADE },
      { kind: 'trade', id: '2', tradeId: 'b', late: true, trade: EXAMPLE_TRADE },
      { kind: 'retracted', id: '3', tradeId: 'a', trade: EXAMPLE_TRADE },
      { kind: 'gap', oldest: '4' },
    ],
  } as const
  t.deepEqual(await read(signed(BODY)), delivery)
  t.deepEqual(await read(new Headers(signed(BODY))), delivery)
})

test('a test has no messages, and a webhook of views has those of `followViews`', async (t) => {
  const body = JSON.stringify({ type: 'test', timestamp: '', data: { webhook: 'w' } })
  t.deepEqual(await read(signed(body), { body }), {
    kind: 'test',
    webhook: 'w',
    cursor: null,
    messages: [],
  })
  const left = { channel: 'watchlist', id: '1', event: 'left', data: { mint: 'm' } }
  const list = bodyOf('watchlist', [left])
  t.deepEqual(await read(signed(list), { body: list }), {
    kind: 'watchlist',
    webhook: 'w',
    cursor: 'after',
    messages: [{ kind: 'left', id: '1', mint: 'm' }],
  })
})

test('while a secret is rotated, the one before and the new one both verify', async (t) => {
  const headers = signed(BODY, [secretOf(2), secretOf(1)])
  for (const byte of [1, 2])
    t.is((await read(headers, { secret: secretOf(byte) })).messages.length, 4)
  await t.throwsAsync(read(headers, { secret: secretOf(3) }), { instanceOf: NotVerified })
})

test('what is not signed by the secret, within five minutes, is not verified', async (t) => {
  const headers = signed(BODY)
  const refused: readonly ReturnType<typeof read>[] = [
    read(headers, { body: BODY.replace('after', 'other') }),
    read({ ...headers, 'webhook-id': 'e' }),
    read({ ...headers, 'webhook-timestamp': String(NOW / 1000 + 1) }),
    read(signed(BODY, undefined, NOW - 301_000)),
    read(signed(BODY, undefined, NOW + 301_000)),
    read({ ...headers, 'webhook-timestamp': 'now' }),
    ...['', 'v1,', 'v1,AAAA', 'v1,*', `v2,${headers['webhook-signature'].slice(3)}`].map((text) =>
      read({ ...headers, 'webhook-signature': text }),
    ),
    ...Object.keys(headers).map((name) => read({ ...headers, [name]: undefined })),
  ]
  for (const one of refused) await t.throwsAsync(one, { instanceOf: NotVerified })
  for (const at of [NOW - 300_000, NOW + 300_000])
    t.is((await read(signed(BODY, undefined, at))).kind, 'trades')
})

test('a secret that is none is a fault of the receiver, not of the delivery', async (t) => {
  for (const secret of ['', 'whsec_', 'tw_key', 'whsec_c2hvcnQ='])
    await t.throwsAsync(read(signed(BODY), { secret }), { instanceOf: TypeError })
})
