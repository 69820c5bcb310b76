import type { AccountAccess } from '../accounts/account-access.ts'
import type { AccountKeys } from '../accounts/account-keys.ts'
import type { LookUpOptions } from '../accounts/key-cache.ts'
import type { NamedKey } from '../accounts/named-keys.ts'
import type { Session } from './session.ts'
import { isSessionKey, type Tokens } from './tokens.ts'

/**
 * A valid credential for product data: the own API key of an account, a named one (rule L15), or
 * the key of a dashboard session (rule L16).
 */
export type ProductKey = { readonly account: string } & (
  | { readonly kind: 'own' }
  | { readonly kind: 'named'; readonly key: NamedKey }
  | { readonly kind: 'session'; readonly session: Session }
)

/** Finds credentials for product data. */
export interface ProductKeys {
  /**
   * Returns a key, or null if the text is not a valid one. Rejects with `account_disabled`, with
   * `unavailable` if the store or the revocations cannot be read, and with the refusals of
   * `options`.
   */
  find(text: string, options?: LookUpOptions): Promise<ProductKey | null>
}

/** Connects API keys and session keys. Every use of a session key is checked for revocation. */
export function createProductKeys(deps: {
  readonly keys: AccountKeys['keys']
  readonly tokens: Pick<Tokens, 'verifySessionKey'>
  readonly access: Pick<AccountAccess, 'requireEnabled'>
}): ProductKeys {
  const { keys, tokens, access } = deps
  return {
    async find(text, options) {
      if (isSessionKey(text)) {
        const session = await tokens.verifySessionKey(text)
        if (session === null) return null
        await access.requireEnabled(session.wallet)
        return { account: session.wallet, kind: 'session', session }
      }
      const found = await keys.find(text, options)
      if (found === null) return null
      const { account, named } = found
      return named === null ? { account, kind: 'own' } : { account, kind: 'named', key: named }
    },
  }
}
