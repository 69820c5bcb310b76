import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { LRUCache } from 'lru-cache'
import type { Address } from '../../../pipeline/domain/address.ts'
import { memo } from '../memo.ts'
import { hash32 } from '../random.ts'

/** An account key in the three forms that building a transaction needs. */
export interface Key {
  readonly address: Address
  readonly bytes: Uint8Array
  /** One character a byte, for maps and comparisons. */
  readonly id: string
  /**
   * Lamports of the account where no ledger says otherwise; 0 for an account that a transaction may
   * open.
   */
  readonly lamports: bigint
}

/** A key from its 32 bytes, of an account that holds nothing. */
export function keyOfBytes(bytes: Uint8Array): Key {
  return { address: bs58.encode(bytes) as Address, bytes, id: keyId(bytes), lamports: 0n }
}

/** A key of an account that exists from the beginning. */
function oldKey(key: Key): Key {
  const native = /^(1{32}|ComputeBudget|Sysvar)/.test(key.address)
  return { ...key, lamports: native ? 1n : 1_461_600n + BigInt(hash32(key.address)) }
}

/** The key of a constant address; always the same object. */
export const wellKnown = memo((address: string): Key => oldKey(keyOfBytes(bs58.decode(address))))

/**
 * The bytes of a key as a string of one character per byte: a map key that costs a tenth of base58.
 */
export function keyId(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** A key that depends on the seed and the name alone; it may be off the curve. */
export function derivedKey(seed: number, name: string): Key {
  return oldKey(keyOfBytes(createHash('sha256').update(`${seed}/${name}`).digest()))
}

/** The key of a name that is the same in every market. */
export const rememberedKey = memo((name: string) => derivedKey(0, name))

/** The same as `derivedKey`, with an address that ends in `pump`, as those of pump.fun coins do. */
export function derivedPumpMint(seed: number, name: string): Key {
  for (let attempt = 0; ; attempt += 1) {
    const text = `${derivedKey(seed, `${name}/${attempt}`).address.slice(0, -4)}pump`
    const bytes = bs58.decodeUnsafe(text)
    if (bytes?.length === 32) return oldKey(keyOfBytes(bytes))
  }
}

/** An Ed25519 key pair that depends on the seed and the name alone, and so can sign. */
export function derivedSigner(seed: number, name: string): { key: Key; secret: Uint8Array } {
  const secret = createHash('sha256').update(`${seed}/signer/${name}`).digest()
  return { key: keyOfBytes(ed25519.getPublicKey(secret)), secret }
}

/**
 * The associated token account of an owner, derived as on chain (SPL associated token account
 * program: seeds owner, token program, mint). Derivation takes 0.3 ms, so that results are cached.
 */
export function associatedTokenAccount(owner: Key, mint: Key, tokenProgram: Key): Key {
  return associated.memo(owner.id + mint.id, { context: [owner, tokenProgram, mint] })
}
const associated = new LRUCache<string, Key, readonly Key[]>({
  max: 100_000,
  memoMethod: (_id, _stale, { context }) => {
    const seeds = context.map(({ bytes }) => bytes)
    return keyOfBytes(PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN)[0].toBytes())
  },
})
const ASSOCIATED_TOKEN = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
