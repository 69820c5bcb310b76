import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { address } from '../../pipeline/domain/address.ts'
import { readOrCreateFile } from '../read-or-create-file.ts'
import { readOrCreateSecretKey } from '../secret-key.ts'
import { newJwtKeys, readJwtKeys, readOrCreateJwtKeys } from './jwt-keys.ts'
import { createTokens } from './tokens.ts'

/*
 * Dashboard tokens (rule E2) and the requirements of RFC 8725 (JSON Web Token Best Current
 * Practices, section 3), one test each.
 */

const WALLET = address('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM')
const ISSUER = 'https://api.example'
const NOW = Date.UTC(2026, 10, 21, 12)
const SECOND = NOW / 1000

const text = await newJwtKeys()
const keys = await readJwtKeys(text, 'test')
const { x = '', d = '' } = (JSON.parse(text) as { keys: { x: string; d: string }[] }).keys[0] ?? {}
const publicJwk = { kty: 'OKP', crv: 'Ed25519', x } as const
const privateKey = { key: { ...publicJwk, d }, format: 'jwk' } as const
const { kid } = keys.signing

function open(rest: Partial<Parameters<typeof createTokens>[0]> = {}) {
  const revoked = new Set<string>()
  const revocations = {
    has: async ({ tokenId }: { readonly tokenId: string }) => revoked.has(tokenId),
    generationOf: async () => 0,
    add: async (id: string) => void revoked.add(id),
    addAll: async () => {},
  }
  return createTokens({
    keys: () => keys,
    issuer: () => ISSUER,
    revocations,
    now: () => NOW,
    ...rest,
  })
}

const HEADER = { alg: 'EdDSA', typ: 'dashboard+jwt', kid }
const CLAIMS = {
  iss: ISSUER,
  aud: 'dashboard',
  sub: WALLET,
  iat: SECOND,
  exp: SECOND + 60,
  jti: randomUUID(),
}
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (header: object, claims: object) => `${part(header)}.${part(claims)}`

/** A token with any header and claims, signed with the service's own key. */
function signed(header: object, claims: object): string {
  const head = unsigned(header, claims)
  return `${head}.${sign(null, Buffer.from(head), privateKey).toString('base64url')}`
}
const without = (name: keyof typeof CLAIMS) =>
  Object.fromEntries(Object.entries(CLAIMS).filter(([key]) => key !== name))

test('a token has the claims of rule E2 and no others', async (t) => {
  const tokens = open()
  const { token, session } = await tokens.issue(WALLET)
  const { expiresAt } = session
  t.is(expiresAt, SECOND + 12 * 3600)
  t.deepEqual(decodeProtectedHeader(token), HEADER)
  const { jti, ...claims } = decodeJwt(token)
  t.regex(jti ?? '', /^[0-9a-f-]{36}$/)
  t.deepEqual(claims, {
    iss: ISSUER,
    aud: 'dashboard',
    sub: WALLET,
    iat: SECOND,
    exp: expiresAt,
  })
  t.deepEqual(session, {
    wallet: WALLET,
    tokenId: jti ?? '',
    verifiedBy: x,
    expiresAt,
    generation: 0,
  })
  t.deepEqual(await tokens.verify(token), session)
  t.not((await tokens.issue(WALLET)).token, token)
  t.truthy(
    await tokens.verify(signed(HEADER, CLAIMS)),
    'the token that the tests below alter is valid unaltered',
  )
})

test('a token of a process whose clock is five seconds ahead is valid at once, and expires to the second', async (t) => {
  const { token, session } = await open({ now: () => NOW + 5000 }).issue(WALLET)
  const { expiresAt } = session
  const at = async (now: number) => (await open({ now: () => now }).verify(token)) !== null
  t.deepEqual(await Promise.all([at(NOW - 1), at(NOW)]), [false, true])
  t.deepEqual(await Promise.all([at(expiresAt * 1000 - 1), at(expiresAt * 1000)]), [true, false])
})

test('a revoked token is invalid; other tokens of its wallet stay valid', async (t) => {
  const tokens = open()
  const [one, other] = [await tokens.issue(WALLET), await tokens.issue(WALLET)]
  const session = await tokens.verify(one.token)
  if (session === null) return t.fail()
  await tokens.revoke(session)
  t.is(await tokens.verify(one.token), null)
  t.truthy(await tokens.verify(other.token))
})

function refuses(title: string, ...texts: string[]) {
  test(title, async (t) => {
    const tokens = open()
    for (const one of texts) t.is(await tokens.verify(one), null, one)
  })
}

const hmac = (header: object, secret: string | Buffer) => {
  const head = unsigned(header, CLAIMS)
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}
const stranger = generateKeyPairSync('ed25519').privateKey
const strangerJwk = stranger.export({ format: 'jwk' })
const byStranger = (header: object) => {
  const head = unsigned(header, CLAIMS)
  return `${head}.${sign(null, Buffer.from(head), stranger).toString('base64url')}`
}

refuses(
  'RFC 8725 3.1: the algorithm is fixed, whatever the token says (none; HMAC with the public key; another name for it)',
  `${unsigned({ ...HEADER, alg: 'none' }, CLAIMS)}.`,
  `${unsigned({ ...HEADER, alg: 'none' }, CLAIMS)}.AA`,
  signed({ ...HEADER, alg: 'none' }, CLAIMS),
  hmac({ ...HEADER, alg: 'HS256' }, Buffer.from(x, 'base64url')),
  hmac({ ...HEADER, alg: 'HS256' }, x),
  hmac(HEADER, x),
  ...['eddsa', 'Ed25519', 'ES256', 'RS256', '', null].map((alg) =>
    signed({ ...HEADER, alg }, CLAIMS),
  ),
)

test('RFC 8725 3.2: a key belongs to one algorithm: a set with a key that is not Ed25519 is refused', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const x25519 = generateKeyPairSync('x25519').privateKey
  for (const key of [rsa, p256, x25519].map((one) => one.export({ format: 'jwk' })))
    await t.throwsAsync(readJwtKeys(JSON.stringify({ keys: [key] }), 'f'), { code: 'bad_config' })
  const hs = { kty: 'oct', k: x }
  await t.throwsAsync(readJwtKeys(JSON.stringify({ keys: [hs] }), 'f'), { code: 'bad_config' })
})

refuses(
  'RFC 8725 3.3: every signature is verified: altered claims, altered header, truncated, foreign, empty',
  ...[signed(HEADER, CLAIMS)].flatMap((good) => {
    const [head = '', claims = '', signature = ''] = good.split('.')
    const other = part({ ...CLAIMS, sub: '11111111111111111111111111111111' })
    return [
      `${head}.${other}.${signature}`,
      `${part({ ...HEADER, more: 1 })}.${claims}.${signature}`,
      `${head}.${claims}.${signature.slice(0, -2)}`,
      `${head}.${claims}.`,
      `${head}.${claims}`,
      `${head}..${signature}`,
    ]
  }),
  byStranger(HEADER),
  // A nested token: JSON Web Encryption around a valid one, and a valid one as the claims.
  `${signed(HEADER, CLAIMS)}.AA.AA`,
)

test('RFC 8725 3.4: cryptographic inputs are checked: a private part that does not match its public key is refused', async (t) => {
  const keys = [{ ...publicJwk, d: strangerJwk.d }]
  await t.throwsAsync(readJwtKeys(JSON.stringify({ keys }), 'f'), { code: 'bad_config' })
})

test('RFC 8725 3.5: keys have 256 bits of entropy from the system’s generator, and no two are equal', async (t) => {
  const made = await Promise.all(Array.from({ length: 20 }, newJwtKeys))
  const ds = made.map((one) => (JSON.parse(one) as { keys: { d: string }[] }).keys[0]?.d ?? '')
  t.is(new Set(ds).size, 20)
  t.true(ds.every((one) => Buffer.from(one, 'base64url').length === 32))
})

refuses(
  'RFC 8725 3.6: no compressed or encrypted token is read (five parts; zip)',
  signed({ ...HEADER, zip: 'DEF' }, CLAIMS).concat('.AA.AA'),
  `${part({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..AAAA.AAAA.AAAA`,
)

refuses(
  'RFC 8725 3.7: claims are UTF-8 JSON: other encodings and other texts are refused',
  ...[
    Buffer.from('{"iss":"\xff"}', 'latin1'),
    Buffer.from(JSON.stringify(CLAIMS), 'utf16le'),
    'null',
    '[]',
    '"x"',
    '',
  ].map((claims) => {
    const head = `${part(HEADER)}.${Buffer.from(claims as string).toString('base64url')}`
    return `${head}.${sign(null, Buffer.from(head), privateKey).toString('base64url')}`
  }),
)

refuses(
  'RFC 8725 3.8: issuer and subject are checked: another issuer, none, a subject that is not a wallet',
  ...['https://evil.example', `${ISSUER}/`, '', null, [ISSUER]].map((iss) =>
    signed(HEADER, { ...CLAIMS, iss }),
  ),
  ...['W1', '', null, 1, [WALLET], 'tw_x'].map((sub) => signed(HEADER, { ...CLAIMS, sub })),
  signed(HEADER, without('iss')),
  signed(HEADER, without('sub')),
)

refuses(
  'RFC 8725 3.9: the audience is checked: another, several, none',
  ...['api', '', null, ['dashboard', 'api'], ['dashboard']].map((aud) =>
    signed(HEADER, { ...CLAIMS, aud }),
  ),
  signed(HEADER, without('aud')),
)

refuses(
  'RFC 8725 3.10: no unchecked claim or header is trusted: embedded keys, key URLs, critical extensions',
  byStranger({ ...HEADER, jwk: { kty: 'OKP', crv: 'Ed25519', x: strangerJwk.x } }),
  byStranger({ ...HEADER, kid: undefined, jwk: { kty: 'OKP', crv: 'Ed25519', x: strangerJwk.x } }),
  byStranger({ ...HEADER, jku: 'http://127.0.0.1:1/jwks.json' }),
  byStranger({ ...HEADER, x5u: 'http://127.0.0.1:1/cert' }),
  signed({ ...HEADER, crit: ['exp'] }, CLAIMS),
  signed({ ...HEADER, crit: ['b64'], b64: false }, CLAIMS),
  ...['', '../../etc/passwd', '__proto__', 'constructor', "' OR 1=1--", null, 0].map((other) =>
    signed({ ...HEADER, kid: other }, CLAIMS),
  ),
  signed({ alg: 'EdDSA', typ: 'dashboard+jwt' }, CLAIMS),
)

refuses(
  'RFC 8725 3.11: the type is explicit: any other kind of token is refused',
  ...['JWT', 'at+jwt', 'secevent+jwt', '', null].map((typ) => signed({ ...HEADER, typ }, CLAIMS)),
  signed({ alg: 'EdDSA', kid }, CLAIMS),
)

refuses(
  'RFC 8725 3.12: tokens that are expired, from the future, too long-lived or without an id are refused',
  signed(HEADER, { ...CLAIMS, exp: SECOND }),
  signed(HEADER, { ...CLAIMS, exp: SECOND - 1 }),
  signed(HEADER, { ...CLAIMS, nbf: SECOND + 1 }),
  signed(HEADER, { ...CLAIMS, iat: SECOND + 6 }),
  signed(HEADER, { ...CLAIMS, iat: SECOND - 12 * 3600 - 1 }),
  signed(HEADER, { ...CLAIMS, exp: SECOND + 12 * 3600 + 1 }),
  ...['1', null, 1.5, {}].map((iat) => signed(HEADER, { ...CLAIMS, iat })),
  ...(['exp', 'iat', 'jti'] as const).map((name) => signed(HEADER, without(name))),
  ...['1', null, true, {}].map((exp) => signed(HEADER, { ...CLAIMS, exp })),
  signed(HEADER, { ...CLAIMS, jti: '' }),
  signed(HEADER, { ...CLAIMS, jti: 7 }),
)

refuses(
  'text that cannot be a token is refused without parsing',
  '',
  'x',
  'a.b',
  'a.b.c',
  '..',
  `tw_${'1'.repeat(43)}`,
  `${signed(HEADER, CLAIMS)} `,
  ` ${signed(HEADER, CLAIMS)}`,
  signed(HEADER, { ...CLAIMS, more: 'x'.repeat(5000) }),
)

test('key rotation: the first key signs, all verify, a removed one does not; only public parts are published', async (t) => {
  const next = await newJwtKeys()
  const [older, newer] = [text, next].map((one) => (JSON.parse(one) as { keys: object[] }).keys[0])
  const both = await readJwtKeys(JSON.stringify({ keys: [newer, older] }), 'both')
  const publicOnly = await readJwtKeys(JSON.stringify({ keys: [newer, publicJwk] }), 'public')
  const alone = await readJwtKeys(next, 'alone')
  const { token } = await open().issue(WALLET)
  t.truthy(await open({ keys: () => both }).verify(token))
  t.truthy(await open({ keys: () => publicOnly }).verify(token))
  t.is(await open({ keys: () => alone }).verify(token), null)
  const { token: later } = await open({ keys: () => both }).issue(WALLET)
  t.is(decodeProtectedHeader(later).kid, alone.signing.kid)
  t.truthy(await open({ keys: () => alone }).verify(later))
  t.is(await open().verify(later), null)
  t.deepEqual(both.published, [
    ...alone.published,
    { ...publicJwk, kid, alg: 'EdDSA', use: 'sig' } as const,
  ])
  t.false(JSON.stringify(both.published).includes('"d"'))
})

test('an invalid key file is refused, and the error repeats none of its contents', async (t) => {
  for (const bad of [
    ...['', '{', '[]', '{}', '{"keys":[]}', '{"keys":{}}', 'null', d],
    JSON.stringify({ keys: [publicJwk] }),
    JSON.stringify({ keys: [{ ...publicJwk, d: `${d}A` }] }),
    JSON.stringify({ keys: [{ ...publicJwk, d, alg: 'none' }] }),
    JSON.stringify({ keys: [{ ...publicJwk, d, use: 'enc' }] }),
    JSON.stringify({ keys: [{ ...publicJwk, d }, publicJwk] }),
  ]) {
    const error = await t.throwsAsync(readJwtKeys(bad, 'JWT_KEYS_FILE'), { code: 'bad_config' })
    t.regex(error?.message ?? '', /^JWT_KEYS_FILE: /)
    t.false(error?.message.includes(d))
  }
})

test('keys made at the first start are readable by the owner only, equal for concurrent starts, and kept (rule J2)', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'jwt-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const data = join(folder, 'data')
  const starting = Array.from({ length: 10 }, async () => {
    const [{ signing }, secret] = await Promise.all([
      readOrCreateJwtKeys(data),
      readOrCreateSecretKey(data),
    ])
    return [signing.kid, Buffer.from(secret).toString('hex')]
  })
  const [[kid = '', secret = ''] = [], ...others] = await Promise.all(starting)
  for (const other of others) t.deepEqual(other, [kid, secret])
  t.is((await readOrCreateJwtKeys(data)).signing.kid, kid)
  t.deepEqual((await readdir(data)).sort(), ['jwt-keys.json', 'secret-key'])
  for (const name of await readdir(data))
    t.is((await stat(join(data, name))).mode & 0o777, 0o600, name)
  t.true((await readFile(join(data, 'jwt-keys.json'), 'utf8')).includes('"d"'))
  t.is(await readFile(join(data, 'secret-key'), 'utf8'), secret)
})

test('a created file is never partial: it appears whole, even if the process ends while writing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kept-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  const ended = readOrCreateFile(path, async () => {
    throw new Error('ended')
  })
  await t.throwsAsync(ended, { message: 'ended' })
  t.deepEqual(await readdir(folder), [])
  const make = async () => {
    t.false((await readdir(folder)).includes('file'))
    return 'whole'
  }
  t.is(await readOrCreateFile(path, make), 'whole')
  t.is(await readOrCreateFile(path, make), 'whole')
  t.deepEqual(await readdir(folder), ['file'])
})
