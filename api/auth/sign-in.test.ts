import { ed25519 } from '@noble/curves/ed25519.js'
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util'
import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import { address, addressFromBytes } from '../../pipeline/domain/address.ts'
import { newWallet } from '../testing/a-wallet.ts'
import { faultOfSignIn, parseSignIn, STATEMENT, signInMessage } from './sign-in-message.ts'
import { isSignedBy, parseSignature } from './verify-signature.ts'

/*
 * Sign-In With Solana (rule E1): the text, its checks, and the signature over it.
 */

const WALLET = address('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM')
const URL_ = 'https://api.example:8443'
const NOW = Date.UTC(2026, 10, 21, 12)
const GIVEN = { url: URL_, wallet: WALLET, nonce: 'MvjZFHvnbkJvqgNHhfBBjN', issuedAt: NOW }
const TEXT = signInMessage(GIVEN)
const FIELDS = {
  domain: 'api.example:8443',
  address: WALLET,
  statement: STATEMENT,
  uri: URL_,
  version: '1',
  chainId: 'mainnet',
  nonce: GIVEN.nonce,
  issuedAt: '2026-11-21T12:00:00.000Z',
  expirationTime: '2026-11-21T12:05:00.000Z',
}

test('the message equals that of the standard’s own library, byte by byte', (t) => {
  t.is(
    TEXT,
    `api.example:8443 wants you to sign in with your Solana account:
9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM

Sign in to manage your API key and credits. This sends no transaction and costs nothing.

URI: https://api.example:8443
Version: 1
Chain ID: mainnet
Nonce: MvjZFHvnbkJvqgNHhfBBjN
Issued At: 2026-11-21T12:00:00.000Z
Expiration Time: 2026-11-21T12:05:00.000Z`,
  )
  t.is(createSignInMessageText(FIELDS), TEXT)
  t.deepEqual(parseSignIn(TEXT), FIELDS)
  const known = Object.entries(parseSignInMessageText(TEXT) ?? {})
  t.deepEqual(
    Object.fromEntries(known.filter(([, value]) => value !== undefined)),
    FIELDS as Record<string, unknown>,
  )
})

test('a message written by the standard’s own library is parsed into the same fields', (t) => {
  const time = fc
    .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const word = (pattern: RegExp) => fc.stringMatching(pattern)
  const message = fc.record(
    {
      domain: word(/^[a-z0-9.-]{1,20}(:[0-9]{1,5})?$/),
      address: fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => addressFromBytes(bytes)),
      statement: word(/^[A-Z][A-Za-z0-9 .,!?'()-]{1,60}$/).filter((one) => !/: /.test(one)),
      uri: word(/^https:\/\/[a-z0-9./?=-]{1,30}$/),
      version: fc.constant('1'),
      chainId: fc.constantFrom('mainnet', 'devnet', 'solana:mainnet'),
      nonce: word(/^[A-Za-z0-9]{8,32}$/),
      issuedAt: time,
      expirationTime: time,
      notBefore: time,
      requestId: word(/^[A-Za-z0-9._-]{1,12}$/),
      resources: fc.array(word(/^https:\/\/[a-z0-9./]{1,20}$/), { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: ['domain', 'address'] },
  )
  fc.assert(
    fc.property(message, (fields) => {
      const text = createSignInMessageText(fields)
      t.deepEqual(parseSignIn(text) as unknown, fields)
      // No text before, after or between the fields is ignored.
      for (const other of [
        ` ${text}`,
        `${text}\n`,
        `${text} `,
        `\n${text}`,
        text.replace(':\n', ':\n\n'),
      ])
        t.notDeepEqual(parseSignIn(other) as unknown, fields)
    }),
    { numRuns: 200 },
  )
})

test('text that does not match the grammar is refused', (t) => {
  const bad = [
    ...['', '\n', 'x', TEXT.replace('Solana', 'Ethereum'), TEXT.replaceAll('\n', '\r\n')],
    ...[TEXT.replace('\n\nURI', '\nURI'), TEXT.replace('\nVersion: 1', '\nVersion: 2')],
    ...[TEXT.replace('Nonce: ', 'nonce: '), TEXT.replace('Nonce: ', 'Nonce:')],
    TEXT.replace(/(URI: .*)\n(Version: .*)/, '$2\n$1'),
    TEXT.replace(/(Nonce: .*)/, '$1\n$1'),
    TEXT.replace(/Nonce: .*/, 'Nonce: a b c d e f g'),
    TEXT.replace(/Nonce: .*/, 'Nonce: short'),
    TEXT.replace(/Issued At: .*/, 'Issued At: yesterday'),
    TEXT.replace(/Issued At: .*/, 'Issued At: 2026-11-21'),
    TEXT.replace(/Chain ID: .*/, 'Chain ID: 1'),
    TEXT.replace(STATEMENT, 'two\nlines'),
    TEXT.replace(STATEMENT, 'a "quoted" word'),
    TEXT.replace(STATEMENT, 'Straße'),
    TEXT.replace('api.example', 'api.example wants you to sign in with your Solana account:\nx'),
    TEXT.replace('api.example:8443', ''),
    TEXT.replace(WALLET, 'W1'),
    `${TEXT}\nResources:\nhttps://x`,
    `${TEXT}\n${'x'.repeat(5000)}`,
  ]
  for (const text of bad) t.is(parseSignIn(text), null, text)
})

test('each field is checked, and a missing field is a fault', (t) => {
  const expected = { url: URL_, wallet: WALLET, now: NOW + 60_000 }
  const judge = (fields: object, now = expected.now) =>
    faultOfSignIn({ ...FIELDS, ...fields }, { ...expected, now })
  const without = (name: keyof typeof FIELDS) =>
    faultOfSignIn(
      Object.fromEntries(Object.entries(FIELDS).filter(([key]) => key !== name)) as typeof FIELDS,
      expected,
    )
  t.is(judge({}), null)
  t.is(judge({ chainId: 'solana:mainnet', requestId: 'x', resources: ['https://x'] }), null)
  t.is(judge({ notBefore: '2026-11-21T12:01:00Z', issuedAt: '2026-11-21T13:00:00+01:00' }), null)
  const other = '11111111111111111111111111111111'
  const cases: readonly (readonly [object, ReturnType<typeof judge>])[] = [
    [{ domain: 'evil.example' }, 'domain'],
    [{ domain: 'api.example' }, 'domain'],
    [{ domain: 'api.example:8443.evil.example' }, 'domain'],
    [{ address: other }, 'address'],
    [{ statement: 'Give me everything' }, 'statement'],
    [{ uri: 'https://evil.example' }, 'uri'],
    [{ uri: `${URL_}/x` }, 'uri'],
    [{ version: '2' }, 'version'],
    [{ chainId: 'devnet' }, 'chain'],
    [{ chainId: 'solana:devnet' }, 'chain'],
    [{ issuedAt: '2026-11-21T12:01:06.000Z' }, 'issued_at'],
    [{ issuedAt: '2026-11-21T11:56:00.000Z' }, 'issued_at'],
    [{ issuedAt: '2026-13-41T99:99:99Z' }, 'issued_at'],
    [{ expirationTime: '2026-11-21T12:01:00.000Z' }, 'expiration_time'],
    [{ expirationTime: '2026-11-21T12:05:00.001Z' }, 'expiration_time'],
    [{ expirationTime: '2027-11-21T12:05:00.000Z' }, 'expiration_time'],
    [{ notBefore: '2026-11-21T12:01:06.000Z' }, 'not_before'],
  ]
  for (const [fields, fault] of cases) t.is(judge(fields), fault, JSON.stringify(fields))
  t.deepEqual(
    (
      ['statement', 'uri', 'version', 'chainId', 'nonce', 'issuedAt', 'expirationTime'] as const
    ).map(without),
    ['statement', 'uri', 'version', 'chain', 'nonce', 'issued_at', 'expiration_time'],
  )
  // To the millisecond; the end is exclusive.
  t.is(judge({}, NOW + 300_000 - 1), null)
  t.is(judge({}, NOW + 300_000), 'issued_at')
})

test('a signature is 64 bytes in base58 or base64', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      const base64 = Buffer.from(bytes).toString('base64')
      for (const text of [bs58.encode(bytes), base64, base64.replace(/=+$/, '')])
        t.deepEqual(Uint8Array.from(parseSignature(text) ?? []), bytes)
    }),
  )
  const base64 = Buffer.alloc(64, 255).toString('base64')
  for (const bad of [
    '',
    'x',
    base64.slice(4),
    `${base64}AAAA`,
    `${base64} `,
    ` ${base64}`,
    base64.replaceAll('/', '_'),
    bs58.encode(Buffer.alloc(63, 1)),
    bs58.encode(Buffer.alloc(65, 1)),
    '0'.repeat(88),
  ])
    t.is(parseSignature(bad), null, bad)
})

test('a signature is valid only for its wallet and bytes, and @noble/curves agrees', (t) => {
  const wallet = newWallet()
  const bytes = Buffer.from(TEXT)
  const signature = wallet.signBytes(bytes)
  t.true(isSignedBy(wallet.address, bytes, signature))
  t.true(ed25519.verify(signature, bytes, bs58.decode(wallet.address), { zip215: false }))
  t.false(isSignedBy(newWallet().address, bytes, signature))
  t.false(isSignedBy(wallet.address, Buffer.from(`${TEXT}\n`), signature))
  fc.assert(
    fc.property(fc.nat(64 * 8 - 1), (bit) => {
      const changed = Uint8Array.from(signature)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      t.false(isSignedBy(wallet.address, bytes, changed))
    }),
    { numRuns: 50 },
  )
  // The same signature with s + L (L: the order of the group) is valid wherever s is reduced first.
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString('hex')}`) + ORDER
  const more = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()
  t.false(isSignedBy(wallet.address, bytes, Buffer.concat([signature.slice(0, 32), more])))
})

/*
 * Corner cases on which implementations differ: message, key and signature in hex, and why it is
 * refused. From "Taming the many EdDSAs" by Chalkias, Garillot and Nikolaenko
 * (github.com/novifinancial/ed25519-speccheck, cases.json).
 */
const CORNERS: readonly (readonly [
  message: string,
  key: string,
  signature: string,
  why: string,
])[] = [
  [
    '8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a0000000000000000000000000000000000000000000000000000000000000000',
    'key and R of small order, s = 0: valid for many messages',
  ],
  [
    '9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04',
    'key of small order',
  ],
  [
    'aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e',
    'R of small order',
  ],
  [
    'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
    'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d',
    '160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09',
    'valid only with the cofactor',
  ],
  [
    'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
    'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d',
    '21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405',
    'valid only with the cofactor, multiplied before reduction',
  ],
  [
    '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
    '442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623',
    'e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514',
    's above the order of the group',
  ],
  [
    '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
    '442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623',
    '8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22',
    's far above the order of the group',
  ],
  [
    'fdaebc429f4a735932a160da1301080c13280eea8bc280d1b392c6b9e6ba3a5a',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f454d370c8d9fc323a41450f8d513eafeb5b0697390c1e505a0d4ddc71f566607',
    'R not canonically encoded',
  ],
  [
    '84b698d39be126ff55fe45079e6c8bf64a0d7db6994560b4e96b7021eb39c1a1',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f084d5b99c2a9463d9c8bd5026916996984eeec87ddf1d3be329006ace1b37b09',
    'R not canonically encoded, hashed as received',
  ],
]

test('signatures on which libraries disagree are refused', (t) => {
  const hex = (text: string) => Buffer.from(text, 'hex')
  for (const [message, key, signature, why] of CORNERS)
    t.false(isSignedBy(addressFromBytes(hex(key)), hex(message), hex(signature)), why)
  // None of the eight keys of small order, canonically encoded or not, is valid for a signature.
  const small = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '0000000000000000000000000000000000000000000000000000000000000000',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  ]
  for (const key of small)
    for (const r of small)
      t.false(
        isSignedBy(
          addressFromBytes(hex(key)),
          hex('00'),
          Buffer.concat([hex(r), Buffer.alloc(32)]),
        ),
      )
})
