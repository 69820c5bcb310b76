import { join } from 'node:path'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose'
import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { parseJson } from '../../pipeline/runtime/parse-json.ts'
import { readOrCreateFile } from '../read-or-create-file.ts'

/** A public key as `GET /.well-known/jwks.json` shows it (RFC 8037). */
export const PublicJwk = z
  .strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().describe('The public key, base64url'),
    kid: z.string().describe('The key id in the header of a token'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
  })
  .meta({ id: 'PublicJwk', description: 'A public key that verifies dashboard tokens.' })

/**
 * The keys of dashboard tokens (rule E2). The first key of the file signs new tokens. All of them
 * verify, so that a new key can replace an old one while its tokens are still in use.
 */
export interface JwtKeys {
  readonly signing: { readonly kid: string; readonly key: CryptoKey }
  /** Public keys by key id. */
  readonly verifying: ReadonlyMap<string, CryptoKey>
  readonly published: readonly z.infer<typeof PublicJwk>[]
}

/**
 * Reads a JWK set of Ed25519 keys. Only the first key needs its private part. A key without `kid`
 * gets its thumbprint as `kid` (RFC 7638). `source` names the file in error messages, for example
 * `JWT_KEYS_FILE: keys.json`. Error messages never repeat the contents.
 */
export async function readJwtKeys(text: string, source: string): Promise<JwtKeys> {
  const refuse = (why: string) => new ServiceError('bad_config', `${source}: ${why}`)
  const parsed = KeySet.safeParse(parseJson(text))
  if (!parsed.success) throw refuse(EXPECTED)
  const verifying = new Map<string, CryptoKey>()
  const published: z.infer<typeof PublicJwk>[] = []
  let signing: JwtKeys['signing'] | undefined
  for (const [index, { x, d, kid: given }] of parsed.data.keys.entries()) {
    const curve = { kty: 'OKP', crv: 'Ed25519', x } as const
    const kid = given ?? (await calculateJwkThumbprint(curve))
    if (verifying.has(kid)) throw refuse(`key ${index + 1} has the same kid as another key`)
    try {
      verifying.set(kid, await importEd25519(curve))
      if (index === 0) {
        if (d === undefined) throw new Error('no private part')
        signing = { kid, key: await importEd25519({ ...curve, d }) }
      }
    } catch {
      const what =
        index === 0 ? 'not an Ed25519 key with its private part (d)' : 'not an Ed25519 key'
      throw refuse(`key ${index + 1} is ${what}`)
    }
    published.push({ ...curve, kid, alg: 'EdDSA', use: 'sig' })
  }
  if (signing === undefined) throw refuse(EXPECTED)
  return { signing, verifying, published }
}

/** Makes the JSON text of a JWK set with one new key. */
export async function newJwtKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return `${JSON.stringify({ keys: [await exportJWK(privateKey)] })}\n`
}

/**
 * Reads the keys that the embedded service keeps in `dataDir`, and makes them on the first start.
 * Only the owner can read the file (rule J2).
 */
export async function readOrCreateJwtKeys(dataDir: string): Promise<JwtKeys> {
  const path = join(dataDir, 'jwt-keys.json')
  const hint = 'delete it to have new keys made (all users then have to log in again)'
  return readJwtKeys(await readOrCreateFile(path, newJwtKeys), path).catch(
    (error: ServiceError) => {
      throw new ServiceError('bad_config', `${error.message}; ${hint}`)
    },
  )
}

const EXPECTED =
  'expected a JWK set of Ed25519 keys, {"keys":[{"kty":"OKP","crv":"Ed25519","x":"...","d":"..."}]}'

const bytes32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
const KeySet = z.object({
  keys: z
    .array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: bytes32,
        d: bytes32.optional(),
        kid: z.string().min(1).max(100).optional(),
        alg: z.literal(['EdDSA', 'Ed25519']).optional(),
        use: z.literal('sig').optional(),
      }),
    )
    .min(1)
    .max(20),
})

/** Rejects if `d` is not the private part of `x`. */
async function importEd25519(jwk: Parameters<typeof importJWK>[0]): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA')
  if (key instanceof Uint8Array) throw new TypeError('a secret, not a key pair')
  return key
}
