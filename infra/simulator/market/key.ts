import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Address } from '../../../pipeline/domain/address.ts'
import { hash32 } from '../random.ts'

/** An account key in the three forms that building a transaction needs, made once. */
export interface Key {
  readonly address: Address
  readonly bytes: Uint8Array
  /** One character a byte: for maps and comparisons. */
  readonly id: string
  /** What the account holds where nothing else says so: nothing, for one that a transaction may yet open. */
  readonly lamports: bigint
}

/** The key of 32 bytes, of an account that holds nothing. */
export function keyOfBytes(bytes: Uint8Array): Key {
  return { address: bs58.encode(bytes) as Address, bytes, id: keyId(bytes), lamports: 0n }
}

/** The key of an account that has been there for long. */
function oldKey(key: Key): Key {
  const native = /^(1{32}|ComputeBudget|Sysvar)/.test(key.address)
  return { ...key, lamports: native ? 1n : 1_461_600n + BigInt(hash32(key.address)) }
}

/** The key of an address known when the program is written, the same object each time. */
export function wellKnown(address: string): Key {
  let found = known.get(address)
  if (found === undefined) {
    found = oldKey(keyOfBytes(bs58.decode(address)))
    known.set(address, found)
  }
  return found
}
const known = new Map<string, Key>()

/** One character a byte: a map key that costs a tenth of base58. */
export function keyId(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** 32 bytes that depend on the seed and the name alone; a key like any other, on the curve or not. */
export function derivedKey(seed: number, name: string): Key {
  return oldKey(keyOfBytes(createHash('sha256').update(`${seed}/${name}`).digest()))
}

/** The same, as the address of a pump.fun coin, which ends in `pump`. */
export function derivedPumpMint(seed: number, name: string): Key {
  for (let attempt = 0; ; attempt += 1) {
    const text = `${derivedKey(seed, `${name}/${attempt}`).address.slice(0, -4)}pump`
    const bytes = bs58.decodeUnsafe(text)
    if (bytes?.length === 32) return oldKey(keyOfBytes(bytes))
  }
}

/** A key pair (Ed25519) that depends on the seed and the name alone: such a wallet can sign. */
export function derivedSigner(seed: number, name: string): { key: Key; secret: Uint8Array } {
  const secret = createHash('sha256').update(`${seed}/signer/${name}`).digest()
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret])
  const spki = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
    .export({ format: 'der', type: 'spki' })
    .subarray(-32)
  return { key: keyOfBytes(Uint8Array.from(spki)), secret }
}

/**
 * The associated token account of an owner, derived as on chain
 * (SPL associated token account program: seeds owner, token program, mint). Costs 0.3 ms the first time, so it is remembered.
 */
export function associatedTokenAccount(owner: Key, mint: Key, tokenProgram: Key): Key {
  const id = owner.id + mint.id
  let found = associated.get(id)
  if (found === undefined) {
    const [address] = PublicKey.findProgramAddressSync(
      [owner.bytes, tokenProgram.bytes, mint.bytes],
      ASSOCIATED_TOKEN,
    )
    found = keyOfBytes(address.toBytes())
    if (associated.size > 100_000) associated.clear()
    associated.set(id, found)
  }
  return found
}
const associated = new Map<string, Key>()
const ASSOCIATED_TOKEN = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
