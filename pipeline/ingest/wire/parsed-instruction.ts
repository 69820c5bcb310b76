import { decodeBase58 } from '../../domain/base58.ts'

/** An instruction with its data in bytes and its accounts as addresses. */
export interface RecompiledInstruction {
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/**
 * Compiles an instruction that a node has parsed (`encoding: "jsonParsed"`) back to accounts and
 * bytes. `program` and `parsed` are as in the JSON. An unknown instruction has no accounts and no
 * data.
 *
 * Source of types and field names: agave 3.0,
 * `transaction-status/src/parse_{system,token,associated_token}.rs` and
 * `parse_token/extension/*.rs`. Source of byte layouts: `solana-system-interface`,
 * `spl-token-interface`.
 */
export function compileParsedInstruction(program: unknown, parsed: unknown): RecompiledInstruction {
  if (program === 'spl-memo' && typeof parsed === 'string') {
    return { accounts: [], data: new Uint8Array(Buffer.from(parsed, 'utf8')) }
  }
  const { type, info } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Parsed
  if (typeof type !== 'string' || typeof info !== 'object' || info === null) return UNKNOWN
  const forms = typeof program === 'string' ? PROGRAMS.get(program) : undefined
  const form = forms?.get(type)
  if (form === undefined) return UNKNOWN
  const fields = info as Fields // a JSON object: fields are read by name and checked one by one
  const data = form.data.map((part) => part(fields))
  if (data.some((bytes) => bytes === null)) return UNKNOWN
  const accounts = form.accounts.flatMap((names) => accountsOf(fields, names))
  return {
    accounts,
    data: new Uint8Array(Buffer.concat(data.filter((bytes) => bytes !== null))),
  }
}

type Parsed = { readonly type?: unknown; readonly info?: unknown }
type Fields = Readonly<Record<string, unknown>>
type Part = (fields: Fields) => Uint8Array | null

interface Form {
  /**
   * Field names in account order. `a|b`: the one that is present. `a?`: may be absent. `a~b`: `a`,
   * omitted when equal to `b`.
   */
  readonly accounts: readonly string[]
  readonly data: readonly Part[]
}

const UNKNOWN: RecompiledInstruction = { accounts: [], data: new Uint8Array() }

function accountsOf(fields: Fields, names: string): string[] {
  if (names === 'signers') return Array.isArray(fields.signers) ? fields.signers.map(String) : []
  const [first, twin] = names.split('~')
  if (first !== undefined && twin !== undefined) {
    return fields[first] === fields[twin] ? [] : [String(fields[first])]
  }
  for (const name of names.replace('?', '').split('|')) {
    const value = fields[name]
    if (typeof value === 'string') return [value]
  }
  return names.endsWith('?') ? [] : ['']
}

/** A little-endian number of `size` bytes, from a number, text, or an object with `amount`. */
function uint(name: string, size: number): Part {
  return (fields) => {
    let value = fields[name]
    if (typeof value === 'object' && value !== null) value = (value as Fields).amount
    if (typeof value !== 'number' && typeof value !== 'string') return null
    if (!/^[0-9]{1,20}$/.test(String(value))) return null
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)))
    return bytes.subarray(0, size)
  }
}

const u64 = (name: string) => uint(name, 8)
const u8 = (name: string) => uint(name, 1)
const tag = (...bytes: number[]): Part => {
  const fixed = Uint8Array.from(bytes)
  return () => fixed
}
const systemTag = (value: number) => tag(value, 0, 0, 0)

const key =
  (name: string): Part =>
  (fields) => {
    const value = fields[name]
    const bytes = typeof value === 'string' ? decodeBase58(value) : null
    return bytes?.length === 32 ? bytes : null
  }

const optionalKey =
  (name: string): Part =>
  (fields) => {
    if (fields[name] == null) return Uint8Array.of(0)
    const bytes = key(name)(fields)
    return bytes === null ? null : Buffer.concat([Uint8Array.of(1), bytes])
  }

/** A bincode string: u64 length and UTF-8 bytes. */
const text =
  (name: string): Part =>
  (fields) => {
    const value = fields[name]
    if (typeof value !== 'string') return null
    const bytes = Buffer.from(value, 'utf8')
    const length = Buffer.alloc(8)
    length.writeUInt32LE(bytes.length)
    return Buffer.concat([length, bytes])
  }

/** The decimals of `tokenAmount`, as one byte. */
const decimals: Part = (fields) => {
  const amount = fields.tokenAmount
  const value = typeof amount === 'object' && amount !== null ? (amount as Fields).decimals : null
  return typeof value === 'number' ? Uint8Array.of(value) : null
}

const AUTHORITY_TYPES = ['mintTokens', 'freezeAccount', 'accountOwner', 'closeAccount']
const authorityType: Part = (fields) => {
  const at = AUTHORITY_TYPES.indexOf(String(fields.authorityType))
  return Uint8Array.of(at === -1 ? 255 : at)
}

const form = (accounts: string, ...data: Part[]): Form => ({
  accounts: accounts.split(' ').filter((name) => name !== ''),
  data,
})

const SYSTEM = new Map<string, Form>([
  [
    'createAccount',
    form('source newAccount', systemTag(0), u64('lamports'), u64('space'), key('owner')),
  ],
  ['assign', form('account', systemTag(1), key('owner'))],
  ['transfer', form('source destination', systemTag(2), u64('lamports'))],
  [
    'createAccountWithSeed',
    form(
      'source newAccount base~source',
      systemTag(3),
      key('base'),
      text('seed'),
      u64('lamports'),
      u64('space'),
      key('owner'),
    ),
  ],
  ['advanceNonce', form('nonceAccount recentBlockhashesSysvar nonceAuthority', systemTag(4))],
  [
    'withdrawFromNonce',
    form(
      'nonceAccount destination recentBlockhashesSysvar rentSysvar nonceAuthority',
      systemTag(5),
      u64('lamports'),
    ),
  ],
  [
    'initializeNonce',
    form('nonceAccount recentBlockhashesSysvar rentSysvar', systemTag(6), key('nonceAuthority')),
  ],
  ['authorizeNonce', form('nonceAccount nonceAuthority', systemTag(7), key('newAuthorized'))],
  ['allocate', form('account', systemTag(8), u64('space'))],
  [
    'allocateWithSeed',
    form('account base', systemTag(9), key('base'), text('seed'), u64('space'), key('owner')),
  ],
  ['assignWithSeed', form('account base', systemTag(10), key('base'), text('seed'), key('owner'))],
  [
    'transferWithSeed',
    form(
      'source sourceBase destination',
      systemTag(11),
      u64('lamports'),
      text('sourceSeed'),
      key('sourceOwner'),
    ),
  ],
  ['upgradeNonce', form('nonceAccount', systemTag(12))],
])

const TOKEN = new Map<string, Form>([
  [
    'initializeMint',
    form(
      'mint rentSysvar',
      tag(0),
      u8('decimals'),
      key('mintAuthority'),
      optionalKey('freezeAuthority'),
    ),
  ],
  ['initializeAccount', form('account mint owner rentSysvar', tag(1))],
  ['initializeMultisig', form('multisig rentSysvar signers', tag(2), u8('m'))],
  [
    'transfer',
    form('source destination authority|multisigAuthority signers', tag(3), u64('amount')),
  ],
  ['approve', form('source delegate owner|multisigOwner signers', tag(4), u64('amount'))],
  ['revoke', form('source owner|multisigOwner signers', tag(5))],
  [
    'setAuthority',
    form(
      'account|mint authority|multisigAuthority signers',
      tag(6),
      authorityType,
      optionalKey('newAuthority'),
    ),
  ],
  [
    'mintTo',
    form('mint account mintAuthority|multisigMintAuthority signers', tag(7), u64('amount')),
  ],
  ['burn', form('account mint authority|multisigAuthority signers', tag(8), u64('amount'))],
  ['closeAccount', form('account destination owner|multisigOwner signers', tag(9))],
  ['freezeAccount', form('account mint freezeAuthority|multisigFreezeAuthority signers', tag(10))],
  ['thawAccount', form('account mint freezeAuthority|multisigFreezeAuthority signers', tag(11))],
  [
    'transferChecked',
    form(
      'source mint destination authority|multisigAuthority signers',
      tag(12),
      u64('tokenAmount'),
      decimals,
    ),
  ],
  [
    'approveChecked',
    form('source mint delegate owner|multisigOwner signers', tag(13), u64('tokenAmount'), decimals),
  ],
  [
    'mintToChecked',
    form(
      'mint account mintAuthority|multisigMintAuthority signers',
      tag(14),
      u64('tokenAmount'),
      decimals,
    ),
  ],
  [
    'burnChecked',
    form('account mint authority|multisigAuthority signers', tag(15), u64('tokenAmount'), decimals),
  ],
  ['initializeAccount2', form('account mint rentSysvar', tag(16), key('owner'))],
  ['syncNative', form('account', tag(17))],
  ['initializeAccount3', form('account mint', tag(18), key('owner'))],
  ['initializeMultisig2', form('multisig signers', tag(19), u8('m'))],
  [
    'initializeMint2',
    form('mint', tag(20), u8('decimals'), key('mintAuthority'), optionalKey('freezeAuthority')),
  ],
  ['getAccountDataSize', form('mint', tag(21))],
  ['initializeImmutableOwner', form('account', tag(22))],
  ['amountToUiAmount', form('mint', tag(23), u64('amount'))],
  [
    'transferCheckedWithFee',
    form(
      'source mint destination authority|multisigAuthority signers',
      tag(26, 1),
      u64('tokenAmount'),
      decimals,
      u64('feeAmount'),
    ),
  ],
  [
    'withdrawExcessLamports',
    form('source destination authority|multisigAuthority signers', tag(38)),
  ],
  [
    'unwrapLamports',
    form('source destination authority|multisigAuthority signers', tag(45, 1), u64('amount')),
  ],
])

const ATA_ACCOUNTS = 'source account wallet mint systemProgram tokenProgram'
const ASSOCIATED_TOKEN = new Map<string, Form>([
  ['create', form(`${ATA_ACCOUNTS} rentSysvar?`)],
  ['createIdempotent', form(ATA_ACCOUNTS, tag(1))],
  [
    'recoverNested',
    form('nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram', tag(2)),
  ],
])

const PROGRAMS = new Map<string, ReadonlyMap<string, Form>>([
  ['system', SYSTEM],
  ['spl-token', TOKEN],
  ['spl-token-2022', TOKEN],
  ['spl-associated-token-account', ASSOCIATED_TOKEN],
])
