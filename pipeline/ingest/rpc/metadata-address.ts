import { PublicKey } from '@solana/web3.js'
import { type Address, addressBytes, addressFromBytes } from '../../domain/address.ts'
import { METADATA_PROGRAM } from './mint-account.ts'

const PROGRAM = new PublicKey(METADATA_PROGRAM)

/**
 * The address of a mint's Metaplex metadata account: the program derived address of the seeds
 * `metadata`, program and mint. Takes some 0.3 ms.
 */
export function metadataAddress(mint: Address): Address {
  const seeds = [Buffer.from('metadata'), PROGRAM.toBytes(), addressBytes(mint)]
  const [found] = PublicKey.findProgramAddressSync(seeds, PROGRAM)
  return addressFromBytes(found.toBytes())
}
