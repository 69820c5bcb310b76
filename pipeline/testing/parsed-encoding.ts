import bs58 from 'bs58'
import type { JsonTransaction } from '../../infra/corpus/to-grpc-update.ts'

interface Raw {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  readonly stackHeight?: number | null
}

/**
 * Returns an RPC response in the `jsonParsed` encoding. Parses System, Token and Associated Token
 * instructions with the exact number of accounts, as a node does. Other instructions are partially
 * decoded, as nodes do for unknown programs.
 */
export function toParsedJson(json: unknown): unknown {
  // The cast is safe: the JSON was built by tests or taken from the corpus.
  const { transaction, meta, ...rest } = json as JsonTransaction
  const { message } = transaction
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const keys = [...message.accountKeys, ...writable, ...readonly]
  const parse = (raw: Raw) => parseInstruction(raw, keys)
  return {
    ...rest,
    transaction: {
      signatures: transaction.signatures,
      message: {
        accountKeys: keys.map((pubkey, i) => ({
          pubkey,
          signer: i < message.header.numRequiredSignatures,
          source: i < message.accountKeys.length ? 'transaction' : 'lookupTable',
        })),
        instructions: message.instructions.map(parse),
      },
    },
    meta: {
      ...meta,
      innerInstructions: meta.innerInstructions?.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(parse),
      })),
    },
  }
}

function parseInstruction(
  { programIdIndex, accounts, data, stackHeight }: Raw,
  keys: readonly string[],
) {
  const programId = keys[programIdIndex]!
  const texts = accounts.map((index) => keys[index]!)
  const bytes = Buffer.from(bs58.decode(data))
  const parsed = parse(programId, texts, bytes)
  return parsed === null
    ? { programId, accounts: texts, data, stackHeight }
    : { programId, ...parsed, stackHeight }
}

function parse(program: string, a: readonly string[], data: Buffer) {
  const key = (at: number) => bs58.encode(data.subarray(at, at + 32))
  const u64 = (at: number) => data.readBigUInt64LE(at)
  const number = (at: number) => Number(u64(at))
  const system = (type: string, info: object) => ({ program: 'system', parsed: { type, info } })
  if (program === '11111111111111111111111111111111') {
    const form = `${data.length >= 4 ? data.readUInt32LE(0) : ''}/${a.length}/${data.length}`
    if (form === '0/2/52')
      return system('createAccount', {
        source: a[0],
        newAccount: a[1],
        lamports: number(4),
        space: number(12),
        owner: key(20),
      })
    if (form === '1/1/36') return system('assign', { account: a[0], owner: key(4) })
    if (form === '2/2/12')
      return system('transfer', { source: a[0], destination: a[1], lamports: number(4) })
    if (form === '8/1/12') return system('allocate', { account: a[0], space: number(4) })
    if (form.startsWith('3/2/')) {
      const end = 44 + data.readUInt32LE(36)
      const info = {
        base: key(4),
        seed: data.subarray(44, end).toString('utf8'),
        lamports: number(end),
        space: number(end + 8),
        owner: key(end + 16),
      }
      return info.base === a[0]
        ? system('createAccountWithSeed', { source: a[0], newAccount: a[1], ...info })
        : null
    }
    return null
  }
  if (program === 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL') {
    if (a.length !== 6 || !['', '01'].includes(data.toString('hex'))) return null
    const [source, account, wallet, mint, systemProgram, tokenProgram] = a
    const info = { source, account, wallet, mint, systemProgram, tokenProgram }
    return {
      program: 'spl-associated-token-account',
      parsed: { type: data.length === 0 ? 'create' : 'createIdempotent', info },
    }
  }
  if (!program.startsWith('Token')) return null
  const token = (type: string, info: object) => ({
    program: program.startsWith('Tokenk') ? 'spl-token' : 'spl-token-2022',
    parsed: { type, info },
  })
  const amount = () => String(u64(1))
  const checked = () => ({ amount: amount(), decimals: data[9] })
  switch (`${data[0]}/${a.length}/${data.length}`) {
    case '1/4/1':
      return token('initializeAccount', {
        account: a[0],
        mint: a[1],
        owner: a[2],
        rentSysvar: a[3],
      })
    case '3/3/9':
      return token('transfer', {
        source: a[0],
        destination: a[1],
        authority: a[2],
        amount: amount(),
      })
    case '4/3/9':
      return token('approve', { source: a[0], delegate: a[1], owner: a[2], amount: amount() })
    case '5/2/1':
      return token('revoke', { source: a[0], owner: a[1] })
    case '7/3/9':
      return token('mintTo', { mint: a[0], account: a[1], mintAuthority: a[2], amount: amount() })
    case '8/3/9':
      return token('burn', { account: a[0], mint: a[1], authority: a[2], amount: amount() })
    case '9/3/1':
      return token('closeAccount', { account: a[0], destination: a[1], owner: a[2] })
    case '12/4/10':
      return token('transferChecked', {
        source: a[0],
        mint: a[1],
        destination: a[2],
        authority: a[3],
        tokenAmount: checked(),
      })
    case '15/3/10':
      return token('burnChecked', {
        account: a[0],
        mint: a[1],
        authority: a[2],
        tokenAmount: checked(),
      })
    case '16/3/33':
      return token('initializeAccount2', {
        account: a[0],
        mint: a[1],
        rentSysvar: a[2],
        owner: key(1),
      })
    case '17/1/1':
      return token('syncNative', { account: a[0] })
    case '18/2/33':
      return token('initializeAccount3', { account: a[0], mint: a[1], owner: key(1) })
    case '6/2/35':
      return data[1] === 2
        ? token('setAuthority', {
            account: a[0],
            authority: a[1],
            authorityType: 'accountOwner',
            newAuthority: key(3),
          })
        : null
    case '22/1/1':
      return token('initializeImmutableOwner', { account: a[0] })
    default:
      return null
  }
}
