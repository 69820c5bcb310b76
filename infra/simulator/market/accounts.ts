import { PublicKey } from '@solana/web3.js'
import type { AccountState } from '../chain.ts'
import { byteWriter } from './byte-writer.ts'
import { type Key, keyOfBytes } from './key.ts'
import { poolAccounts } from './pool-accounts.ts'
import { TOKEN, TOKEN_2022, USDC_MINT, USDT_MINT, WSOL_MINT } from './programs.ts'
import { blockTimeOf } from './slot-time.ts'
import type { Coin, Universe } from './universe.ts'

const METADATA_PROGRAM = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

/**
 * Accounts that clients read: mints (SPL Token, or Token-2022 with its metadata extension),
 * Metaplex metadata of the former, pools and their vaults. The functions by address return the
 * state at a slot.
 */
export function createAccounts(
  universe: Universe,
): ReadonlyMap<string, (slot: number) => AccountState> {
  const accounts = new Map<string, (slot: number) => AccountState>()
  for (const [key, decimals] of [
    [WSOL_MINT, 9],
    [USDC_MINT, 6],
    [USDT_MINT, 6],
  ] as const) {
    const data = mintData(10n ** 16n, decimals)
    accounts.set(key.address, () => ({ lamports: key.lamports, owner: TOKEN.address, data }))
  }
  for (const coin of universe.coins) {
    const { key, decimals, program } = coin.mint
    if (program === TOKEN_2022) {
      const data = token2022MintData(coin)
      accounts.set(key.address, () => ({ lamports: 3_786_240n, owner: program.address, data }))
      continue
    }
    const data = mintData(coin.supply, decimals)
    accounts.set(key.address, () => ({ lamports: 1_461_600n, owner: program.address, data }))
    const metadata = metaplexData(coin)
    accounts.set(metadataAddress(key).address, () => ({
      lamports: 5_115_600n,
      owner: METADATA_PROGRAM.toBase58(),
      data: metadata,
    }))
  }
  for (const coin of [...universe.coins, universe.pricePool])
    for (const { key, owner, lamports, data } of poolAccounts(coin))
      accounts.set(key.address, (slot) => ({
        lamports: lamports(slot),
        owner: owner.address,
        data: data(slot, blockTimeOf(slot)),
      }))
  return accounts
}

/** SPL Token `Mint`, 82 bytes: u32 + 32 mint authority, u64 supply, u8 decimals, bool initialised, u32 + 32 freeze authority. */
function mintData(supply: bigint, decimals: number): Buffer {
  return byteWriter(82)
    .raw(new Uint8Array(36))
    .u64(supply)
    .u8(decimals)
    .bool(true)
    .raw(new Uint8Array(36))
    .done()
}

/**
 * A Token-2022 mint: the SPL Token mint, zeros to 165, u8 account type 1, then extensions (u16
 * type, u16 length): metadata pointer 18, token metadata 19.
 */
function token2022MintData(coin: Coin): Buffer {
  const metadata = byteWriter(512)
    .key(coin.key('creator'))
    .key(coin.mint.key)
    .text(coin.name)
    .text(coin.symbol)
    .text(`https://simulator.invalid/${coin.index}.json`)
    .u32(0)
    .done()
  return byteWriter(1_024)
    .raw(mintData(coin.supply, coin.mint.decimals))
    .raw(new Uint8Array(83))
    .u8(1)
    .u16(18)
    .u16(64)
    .key(coin.key('creator'))
    .key(coin.mint.key)
    .u16(19)
    .u16(metadata.length)
    .raw(metadata)
    .done()
}

/**
 * Metaplex `Metadata`, 607 bytes: u8 key 4, 32 update authority, 32 mint, strings padded with zeros
 * (name 32, symbol 10, uri 200), u16 seller fee, option creators, bool sold, bool mutable, option
 * u8 nonce, option u8 token standard.
 */
function metaplexData(coin: Coin): Buffer {
  const padded = (text: string, room: number) => {
    const bytesOfText = Buffer.alloc(room)
    bytesOfText.write(text, 'utf8')
    return byteWriter(room + 4)
      .u32(room)
      .raw(bytesOfText)
      .done()
  }
  const data = Buffer.alloc(607)
  byteWriter(607)
    .u8(4)
    .key(coin.key('creator'))
    .key(coin.mint.key)
    .raw(padded(coin.name, 32))
    .raw(padded(coin.symbol, 10))
    .raw(padded(`https://simulator.invalid/${coin.index}.json`, 200))
    .u16(0)
    .bool(false)
    .bool(false)
    .bool(true)
    .raw(Uint8Array.of(1, 255, 1, 2))
    .done()
    .copy(data)
  return data
}

function metadataAddress(mint: Key): Key {
  const [address] = PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), METADATA_PROGRAM.toBytes(), mint.bytes],
    METADATA_PROGRAM,
  )
  return keyOfBytes(address.toBytes())
}
