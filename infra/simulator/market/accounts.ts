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

/**
 * SPL Token `Mint`, 82 bytes: u32 1 and the mint authority, or zeros without one, u64 supply, u8
 * decimals, bool initialised, zeros for no freeze authority.
 */
export function mintData(supply: bigint, decimals: number, authority?: Uint8Array): Buffer {
  const writer = byteWriter(82)
  if (authority === undefined) writer.zeros(36)
  else writer.u32(1).raw(authority)
  return writer.u64(supply).u8(decimals).bool(true).zeros(36).done()
}

/**
 * A Token-2022 mint: the SPL Token mint, zeros to 165, u8 account type 1, then extensions (u16
 * type, u16 length): metadata pointer 18, token metadata 19.
 */
function token2022MintData(coin: Coin): Buffer {
  const metadata = byteWriter(512)
    .key(coin.key('creator'), coin.mint.key)
    .text(coin.name)
    .text(coin.symbol)
    .text(`https://simulator.invalid/${coin.index}.json`)
    .u32(0)
    .done()
  return byteWriter(1_024)
    .raw(mintData(coin.supply, coin.mint.decimals))
    .zeros(83)
    .u8(1)
    .u16(18, 64)
    .key(coin.key('creator'), coin.mint.key)
    .u16(19, metadata.length)
    .raw(metadata)
    .done()
}

/**
 * Metaplex `Metadata`, 607 bytes: u8 key 4, 32 update authority, 32 mint, strings padded with zeros
 * (name 32, symbol 10, uri 200), u16 seller fee, option creators, bool sold, bool mutable, option
 * u8 nonce, option u8 token standard.
 */
function metaplexData(coin: Coin): Buffer {
  const writer = byteWriter(607).u8(4).key(coin.key('creator'), coin.mint.key)
  const uri = `https://simulator.invalid/${coin.index}.json`
  for (const [text, room] of [
    [coin.name, 32],
    [coin.symbol, 10],
    [uri, 200],
  ] as const)
    writer.text(text.padEnd(room, '\0'))
  return writer.u16(0).bool(false, false, true).u8(1, 255, 1, 2).zeros(279).done()
}

function metadataAddress(mint: Key): Key {
  const [address] = PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), METADATA_PROGRAM.toBytes(), mint.bytes],
    METADATA_PROGRAM,
  )
  return keyOfBytes(address.toBytes())
}
