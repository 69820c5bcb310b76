import { z } from 'zod'
import { type JwtKeys, PublicJwk } from '../auth/jwt-keys.ts'
import { componentSchema } from '../items/component-schema.ts'
import { resource } from './resource.ts'

const JwkSet = componentSchema('JwkSet', 'A JSON Web Key Set (RFC 7517).', {
  keys: z.array(PublicJwk),
})

/** `GET /.well-known/jwks.json`: the public keys of dashboard tokens (rule E2). */
export function jwks({ jwtKeys }: { readonly jwtKeys: () => JwtKeys }) {
  return resource({
    path: '/.well-known/jwks.json',
    price: null,
    docs: {
      tag: 'Login',
      summary: 'Public keys of dashboard tokens',
      description: 'The first key signs new tokens; tokens signed by any of the keys are valid.',
      example: {
        keys: [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
            kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
            alg: 'EdDSA',
            use: 'sig',
          },
        ],
      },
    },
    answer: JwkSet,
    async handle() {
      return {
        body: { keys: [...jwtKeys().published] },
        headers: { 'Cache-Control': 'public, max-age=300' },
      }
    },
  })
}
