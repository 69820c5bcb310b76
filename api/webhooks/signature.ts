import { hkdfSync } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Webhook } from 'standardwebhooks'
import type { SecretKeys } from '../secret-key.ts'

/** How long a delivery is signed with the secret before a rotation, too. */
export const OVERLAP_MS = 24 * 3_600_000

/** What the secret of a webhook follows from. */
export interface Signer {
  readonly id: string
  /** How often its secret was rotated, and when last, in unix milliseconds. */
  readonly rotations: number
  readonly rotatedAt: number | null
}

/**
 * The secrets of webhooks, in the form of the Standard Webhooks specification. They are derived, so
 * none is stored.
 */
export class WebhookSecrets {
  readonly #keys: SecretKeys
  /** Signers of deliveries, by webhook and number of rotations: one for each key. */
  readonly #signers = new LRUCache<string, readonly Webhook[]>({ max: MOST_SIGNERS })

  constructor(keys: SecretKeys) {
    this.#keys = keys
  }

  /** The secret that a receiver verifies with: `whsec_` and 32 bytes in base64. */
  secretOf({ id, rotations }: Signer): string {
    return secret(this.#keys[0], id, rotations)
  }

  /**
   * The header fields that sign a delivery at a time (unix milliseconds). It has a signature of
   * each key of `SECRET_KEY`, and for `OVERLAP_MS` after a rotation those of the secret before.
   */
  headers(signer: Signer, delivery: string, body: string, now: number): Record<string, string> {
    const { id, rotations, rotatedAt } = signer
    const isOverlap = rotatedAt !== null && now < rotatedAt + OVERLAP_MS
    const numbers = isOverlap ? [rotations, rotations - 1] : [rotations]
    const signers = numbers.flatMap((number) => this.#signersOf(id, number))
    const at = new Date(now)
    return {
      'content-type': 'application/json',
      'webhook-id': delivery,
      'webhook-timestamp': String(Math.floor(now / 1000)),
      'webhook-signature': signers.map((one) => one.sign(delivery, at, body)).join(' '),
    }
  }

  #signersOf(id: string, rotations: number): readonly Webhook[] {
    const name = `${id} ${rotations}`
    const known = this.#signers.get(name)
    if (known !== undefined) return known
    const signers = this.#keys.map((key) => new Webhook(secret(key, id, rotations)))
    this.#signers.set(name, signers)
    return signers
  }
}

const MOST_SIGNERS = 10_000

function secret(key: Uint8Array, id: string, rotations: number): string {
  const bytes = hkdfSync('sha256', key, '', `webhook ${id} ${rotations}`, 32)
  return `whsec_${Buffer.from(bytes).toString('base64')}`
}
