import { PublicKey } from '@solana/web3.js'
import { type Address, addressBytes, addressFromBytes } from '../../domain/address.ts'
import { METADATA_PROGRAM } from './mint-account.ts'

const PROGRAM = new PublicKey(METADATA_PROGRAM)

/** Where Metaplex keeps a mint's metadata: the program's address of seeds `metadata`, program, mint. Costs some 0.3 ms. */
export function metadataAddress(mint: Address): Address {
  const seeds = [Buffer.from('metadata'), PROGRAM.toBytes(), addressBytes(mint)]
  const [found] = PublicKey.findProgramAddressSync(seeds, PROGRAM)
  return addressFromBytes(found.toBytes())
}
