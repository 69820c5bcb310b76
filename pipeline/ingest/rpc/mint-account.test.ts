import test from 'ava'
import fc from 'fast-check'
import { startSimulator } from '../../../infra/simulator/simulator.ts'
import { type Address, address, addressBytes, addressFromBytes } from '../../domain/address.ts'
import { USDC } from '../../domain/quote.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { Token2022Chain } from '../../testing/token-2022-chain.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { metadataAddress } from './metadata-address.ts'
import { METADATA_PROGRAM, readMetadata, readMint } from './mint-account.ts'
import { cleanMintText, MAX_NAME, MAX_SYMBOL } from './mint-text.ts'
import { createRpc } from './rpc.ts'
import type { RpcAccount } from './solana-rpc.ts'

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
const BONK = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
const OTHER = addressFromBytes(new Uint8Array(32).fill(7))

/** Characters that deceive readers or break displays, mixed with plain ones. */
const HOSTILE = [
  ...'\u0000\u0007\b\t\n\r\u001b\u007f\u0085\u009b',
  ...'\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029',
  ...'\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u206f\u2800\u3000\u3164',
  ...'\ufe0f\ufeff\uffa0\ufff9\ufffb\ufffc\ufffd\uffff\ue000\u{e0041}\u{e0100}\u{10ffff}',
  ...[
    '\ud800',
    '\udc00',
    'e\u0301',
    '\u212b',
    '\u1100\u1161',
    'a',
    'B',
    '$',
    ' ',
    '🐕',
    'é',
    '<',
    '"',
  ],
]
/** Ranges of code points that must be removed, from the Unicode character database. */
const INVISIBLE = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xffff],
  [0xe0000, 0xe0fff],
  [0xf0000, 0x10ffff],
] as const

const hostileText = fc.oneof(
  fc.array(fc.constantFrom(...HOSTILE), { maxLength: 100 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 300 }),
)

test('a name is one visible line without controls, overrides, zero-width or private characters (rule J8)', (t) => {
  const clean = (text: string | Uint8Array) => cleanMintText(text, MAX_NAME)
  t.is(clean('Bonk'), 'Bonk')
  t.is(clean('  $W\u202eIF\u0000\u0000\u0000'), '$WIF')
  t.is(clean('US\u200bD\u2066C\u2069'), 'USDC')
  t.is(clean('a\u001b[31mb\r\n\tc'), 'a[31mb c')
  t.is(clean('e\u0301'), '\u00e9')
  t.is(clean('\u212b'), '\u00c5')
  t.is(clean('\u3164\u2800 \ufeff\u{e0041}\u{e0020}'), '')
  t.is(clean('犬🐕\ufe0f'), '犬🐕')
  t.is(clean(Uint8Array.of(0x61, 0xff, 0xc3, 0x28, 0x62)), 'a(b')
  t.is(cleanMintText('🐕'.repeat(20), MAX_SYMBOL), '🐕'.repeat(16))
  t.is(cleanMintText(`${'x'.repeat(15)} y`, MAX_SYMBOL), 'x'.repeat(15))
  t.is(clean('a'.repeat(1_000_000)), 'a'.repeat(MAX_NAME))
})

test('any text becomes a short, normalised name without invisible characters', (t) => {
  // Independent of the code under test, which uses Unicode properties.
  const isInvisible = (char: string) => {
    const code = char.codePointAt(0) ?? 0
    return INVISIBLE.some(([first, last]) => code >= first && code <= last)
  }
  fc.assert(
    fc.property(hostileText, fc.constantFrom(MAX_SYMBOL, MAX_NAME, 1), (text, most) => {
      const clean = cleanMintText(text, most)
      t.deepEqual([...clean].filter(isInvisible), [])
      t.is(clean, clean.trim())
      t.notRegex(clean, /[^\S ]| {2}/)
      t.true([...clean].length <= most)
      t.is(clean.normalize('NFC'), clean)
      t.is(cleanMintText(clean, most), clean)
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      t.deepEqual([...cleanMintText(bytes, MAX_NAME)].filter(isInvisible), [])
    }),
  )
})

test('a mint written by the Token-2022 program is read with its supply, decimals and metadata', (t) => {
  const chain = new Token2022Chain(100, 5000n)
  const { mint, account } = chain.describedMint(12_345_678_901_234_567n, 'Do\u202ege', 'WI\u0000F')
  t.deepEqual(readMint(account, mint), {
    program: 'token_2022',
    decimals: 8,
    supply: 12_345_678_901_234_567n,
    text: { name: 'Doge', symbol: 'WIF' },
  })
  // Metadata that names another mint is ignored.
  t.is(readMint(account, OTHER)?.text, null)
  for (let length = 0; length < account.data.length; length += 1) {
    const cut = readMint({ ...account, data: account.data.subarray(0, length) }, mint)
    t.true(cut === null || cut.text === null || length > 260)
  }
})

const account = (owner: string, data: Uint8Array): RpcAccount => ({ owner, data })

/** A mint account of the Token program, 82 bytes. */
function classicMint(supply: bigint, decimals: number): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(1, 45)
  return data
}

test('a mint of the Token program has supply and decimals; other accounts are not mints', (t) => {
  const data = classicMint(2n ** 64n - 1n, 5)
  const read = readMint(account(TOKEN, data), BONK)
  t.deepEqual(read, { program: 'spl_token', decimals: 5, supply: 2n ** 64n - 1n, text: null })
  t.like(readMint(account(TOKEN_2022, data), BONK), { program: 'token_2022', text: null })
  t.is(readMint(account('11111111111111111111111111111111', data), BONK), null)
  t.is(readMint(account(TOKEN, data.subarray(0, 81)), BONK), null)
  t.is(readMint(account(TOKEN, Buffer.concat([data, Buffer.alloc(83)])), BONK), null)
  const holder = Buffer.concat([data, Buffer.alloc(83), Uint8Array.of(2)])
  t.is(readMint(account(TOKEN_2022, holder), BONK), null)
  t.is(readMint(account(TOKEN, Buffer.from(data).fill(0, 45, 46)), BONK), null)
})

/** A Metaplex metadata account of a mint. */
function metaplex(mint: Address, name: Uint8Array, symbol: Uint8Array): Buffer {
  const string = (bytes: Uint8Array) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    return Buffer.concat([length, bytes])
  }
  const head = [Uint8Array.of(4), new Uint8Array(32).fill(3), addressBytes(mint)]
  return Buffer.concat([...head, string(name), string(symbol), string(new Uint8Array(200))])
}

test('Metaplex metadata is read without its padding, and ignored for another mint', (t) => {
  const name = Buffer.alloc(32)
  name.write('Bonk')
  const data = metaplex(BONK, name, Buffer.from('BONK\0\0\0\0\0\0'))
  t.deepEqual(readMetadata(account(METADATA_PROGRAM, data), BONK), { name: 'Bonk', symbol: 'BONK' })
  t.is(readMetadata(account(METADATA_PROGRAM, data), OTHER), null)
  t.is(readMetadata(account(TOKEN, data), BONK), null)
  t.is(readMetadata(account(METADATA_PROGRAM, data.fill(6, 0, 1)), BONK), null)
})

test('no bytes make the readers throw', (t) => {
  const owner = fc.constantFrom(TOKEN, TOKEN_2022, METADATA_PROGRAM)
  const whole = fc.oneof(
    fc.constant(metaplex(BONK, Buffer.from('Bonk'), Buffer.from('BONK'))),
    fc.constant(
      Buffer.concat([classicMint(5n, 5), Buffer.alloc(83), Uint8Array.of(1, 19, 0, 90, 0)]),
    ),
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  )
  const changes = fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 4 })
  fc.assert(
    fc.property(owner, whole, changes, fc.nat(400), (program, bytes, spoiled, length) => {
      const data = Buffer.from(bytes.subarray(0, length))
      for (const [at, value] of spoiled) if (at < data.length) data[at] = value
      const mint = readMint(account(program, data), BONK)
      const text = readMetadata(account(program, data), BONK) ?? mint?.text
      t.true(text == null || [...text.name].length <= MAX_NAME)
    }),
    { numRuns: 2000 },
  )
})

test("the simulator's mints over RPC equal those of its market", async (t) => {
  const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: 405_000_000 } })
  const metrics = createIngestMetrics(createRegistry())
  const rpc = createRpc({ url: simulator.rpcUrl, metrics })
  const coins = simulator.market.universe.coins.slice(0, 40)
  const mints = coins.map(({ mint }) => mint.key.address)
  const accounts = await rpc.getMultipleAccounts(mints)
  const described = await rpc.getMultipleAccounts(mints.map(metadataAddress))
  t.true(accounts.some((found) => found?.owner === TOKEN))
  t.true(accounts.some((found) => found?.owner === TOKEN_2022))
  coins.forEach(({ supply, name, symbol, mint: { decimals } }, at) => {
    const mint = mints[at] as Address // one for each coin
    const read = readMint(accounts[at] as RpcAccount, mint)
    const metadata = described[at]
    t.like(read, { supply, decimals })
    t.deepEqual(read?.text ?? (metadata && readMetadata(metadata, mint)), { name, symbol })
  })
  rpc.close()
  await simulator.close()
})

test('the metadata address of USDC is the one on mainnet', (t) => {
  t.is(metadataAddress(USDC), address('5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq'))
})
