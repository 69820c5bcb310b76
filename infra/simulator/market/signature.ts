import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'

/** Creates signatures from which the simulator can read the place of their transaction. */
export interface Signatures {
  /** 64 bytes: 16 bytes of slot and index, encrypted, then 48 bytes of their hash. */
  of(slot: number, index: number): Buffer
  /** The signature of another signer of the same transaction. */
  further(first: Uint8Array, position: number): Buffer
  /** The place of a transaction; null when the signature is not of this market. */
  read(signature: Uint8Array): { slot: number; index: number } | null
}

/** Creates the signatures of a seed. */
export function createSignatures(seed: number): Signatures {
  const key = createHash('sha256').update(`signatures/${seed}`).digest().subarray(0, 16)
  const further = (first: Uint8Array, position: number) =>
    createHash('sha512').update(first).update(Buffer.of(position)).digest()
  return {
    of(slot, index) {
      const plain = Buffer.alloc(16)
      plain.writeBigUInt64LE(BigInt(slot), 0)
      plain.writeUInt32LE(index, 8)
      const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      const head = cipher.update(plain)
      return Buffer.concat([head, further(head, 0).subarray(0, 48)])
    },
    further,
    read(signature) {
      const head = signature.subarray(0, 16)
      const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      const plain = decipher.update(head)
      const tail = further(head, 0).subarray(0, 48)
      if (plain.readUInt32LE(12) !== 0 || Buffer.compare(tail, signature.subarray(16)) !== 0) {
        return null
      }
      return { slot: Number(plain.readBigUInt64LE(0)), index: plain.readUInt32LE(8) }
    },
  }
}
