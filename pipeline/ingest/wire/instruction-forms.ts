import { decodeBase58 } from '../../domain/base58.ts'

/** The named fields of a parsed instruction. */
export type ParsedFields = Readonly<Record<string, unknown>>

/** Compiles one part of the data; null when a field is missing or has a wrong type. */
type Part = (fields: ParsedFields) => Uint8Array | null

/** Rules to compile an instruction from its named fields. */
export interface InstructionForm {
  /**
   * Field names in account order. `a|b`: the one that is present. `a?`: may be absent. `a~b`: `a`,
   * omitted when equal to `b`.
   */
  readonly accounts: readonly string[]
  readonly data: readonly Part[]
}

/** A little-endian number of `size` bytes, from a number, text, or an object with `amount`. */
function uint(name: string, size: number): Part {
  return (fields) => {
    let value = fields[name]
    if (typeof value === 'object' && value !== null) value = (value as ParsedFields).amount
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
  const value =
    typeof amount === 'object' && amount !== null ? (amount as ParsedFields).decimals : null
  return typeof value === 'number' ? Uint8Array.of(value) : null
}

const AUTHORITY_TYPES = ['mintTokens', 'freezeAccount', 'accountOwner', 'closeAccount']
const authorityType: Part = (fields) => {
  const at = AUTHORITY_TYPES.indexOf(String(fields.authorityType))
  return Uint8Array.of(at === -1 ? 255 : at)
}

const form = (accounts: string, ...data: Part[]): InstructionForm => ({
  accounts: accounts.split(' ').filter((name) => name !== ''),
  data,
})

const SYSTEM = new Map<string, InstructionForm>([
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

const TOKEN = new Map<string, InstructionForm>([
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
const ASSOCIATED_TOKEN = new Map<string, InstructionForm>([
  ['create', form(`${ATA_ACCOUNTS} rentSysvar?`)],
  ['createIdempotent', form(ATA_ACCOUNTS, tag(1))],
  [
    'recoverNested',
    form('nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram', tag(2)),
  ],
])

/** Forms by program and instruction type, as `jsonParsed` names them. */
export const INSTRUCTION_FORMS: ReadonlyMap<string, ReadonlyMap<string, InstructionForm>> = new Map(
  [
    ['system', SYSTEM],
    ['spl-token', TOKEN],
    ['spl-token-2022', TOKEN],
    ['spl-associated-token-account', ASSOCIATED_TOKEN],
  ],
)
