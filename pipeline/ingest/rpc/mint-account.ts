import type { Address } from '../../domain/address.ts'
import { addressBytes } from '../../domain/address.ts'
import { cleanMintText, MAX_NAME, MAX_SYMBOL } from './mint-text.ts'
import type { RpcAccount } from './solana-rpc.ts'

/** The decoded account of a mint. */
export interface MintAccount {
  readonly program: 'spl_token' | 'token_2022'
  readonly decimals: number
  /** Total supply in raw units. */
  readonly supply: bigint
  /** Symbol and name from the account's own metadata extension; null without one. */
  readonly text: MintText | null
}

/** Symbol and name of a token, cleaned by `cleanMintText`. Empty when the token has none. */
export interface MintText {
  readonly symbol: string
  readonly name: string
}

/** The Metaplex Token Metadata program, which owns metadata accounts. */
export const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
const PROGRAMS: Readonly<Record<string, MintAccount['program']>> = {
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: 'spl_token',
  TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb: 'token_2022',
}

// Layouts, by byte offset.
//
// Mint, 82 bytes (solana-program/token, program/src/state.rs):
//     0 COption<Pubkey> mint_authority    36 u64 supply             44 u8 decimals
//    45 bool is_initialized               46 COption<Pubkey> freeze_authority
//
// Mint with extensions (solana-program/token-2022, program/src/extension/mod.rs):
//     0 Mint    82 zeros    165 u8 account type (1: mint)    166 extensions
// An extension is u16 type, u16 length and its value. Type 0 ends the list; type 19 is
// TokenMetadata.
//
// TokenMetadata (solana-program/token-metadata, interface/src/state.rs):
//     0 Pubkey update_authority    32 Pubkey mint    64 string name, string symbol, string uri,
//       (string, string)[]
// A string is its u32 length and UTF-8.
const MINT_SIZE = 82
const ACCOUNT_TYPE = 165
const TOKEN_METADATA = 19

/** Decodes a mint of either token program; null for any other account. Never throws on bytes. */
export function readMint(account: RpcAccount, mint: Address): MintAccount | null {
  const program = PROGRAMS[account.owner]
  const data = viewOf(account.data)
  if (program === undefined || data.length < MINT_SIZE || data[45] !== 1) return null
  // Token accounts and multisigs have other lengths. An account with extensions states its type.
  const extended = program === 'token_2022' && data[ACCOUNT_TYPE] === 1
  if (data.length !== MINT_SIZE && !extended) return null
  return {
    program,
    decimals: data.readUInt8(44),
    supply: data.readBigUInt64LE(36),
    text: program === 'token_2022' ? readExtension(data, mint) : null,
  }
}

function readExtension(data: Buffer, mint: Address): MintText | null {
  let at = ACCOUNT_TYPE + 1
  while (at + 4 <= data.length) {
    const type = data.readUInt16LE(at)
    const end = at + 4 + data.readUInt16LE(at + 2)
    if (type === 0) return null
    if (type === TOKEN_METADATA) return readTexts(data.subarray(at + 4, end), 32, mint)
    at = end
  }
  return null
}

/**
 * Decodes the Metaplex metadata account of a mint; null for another account or another mint. Never
 * throws on bytes.
 *
 * Layout: 0 u8 key (4: MetadataV1), 1 Pubkey update_authority, 33 Pubkey mint, 65 string name,
 * string symbol, string uri, ... Strings are padded with zeros. Source:
 * metaplex-foundation/mpl-token-metadata, programs/token-metadata/program/src/state/metadata.rs.
 */
export function readMetadata(account: RpcAccount, mint: Address): MintText | null {
  const data = viewOf(account.data)
  if (account.owner !== METADATA_PROGRAM || data[0] !== 4) return null
  return readTexts(data, 33, mint)
}

/**
 * Reads the mint at `mintAt`, then name and symbol. Null unless the mint is `mint`: anyone can
 * write metadata that names another mint.
 */
function readTexts(data: Buffer, mintAt: number, mint: Address): MintText | null {
  if (!data.subarray(mintAt, mintAt + 32).equals(addressBytes(mint))) return null
  const name = readString(data, mintAt + 32)
  const symbol = name === null ? null : readString(data, name.end)
  if (name === null || symbol === null) return null
  return {
    symbol: cleanMintText(symbol.bytes, MAX_SYMBOL),
    name: cleanMintText(name.bytes, MAX_NAME),
  }
}

function readString(data: Buffer, at: number): { bytes: Uint8Array; end: number } | null {
  if (at + 4 > data.length) return null
  const end = at + 4 + data.readUInt32LE(at)
  return end > data.length ? null : { bytes: data.subarray(at + 4, end), end }
}

function viewOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}
