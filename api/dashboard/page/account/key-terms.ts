import type { KeyUse } from '../responses.ts'

/** The form of a new key, as the customer filled it in. */
export interface KeyForm {
  readonly name: string
  readonly scopes: readonly KeyUse[]
  /** Text of an input of type `date`; empty: the key does not expire. */
  readonly expiresOn: string
  /** Addresses and networks, separated by spaces, commas or lines; empty: all may use the key. */
  readonly addresses: string
}

/** Display text of each scope. */
export const SCOPE_TEXTS: Readonly<Record<KeyUse, string>> = {
  read: 'Read data (REST)',
  feed: 'Live feed',
}

/**
 * Returns the body of `POST /me/keys`, and what is wrong with the form. A key expires at the end of
 * its last day, in UTC. The service checks the addresses.
 */
export function keyTerms(
  { name, scopes, expiresOn, addresses }: KeyForm,
  now: number,
): { readonly body: object; readonly errors: readonly string[] } {
  const length = [...name.trim()].length
  const end = expiresOn === '' ? null : Date.parse(`${expiresOn}T00:00:00Z`) / 1000 + 86_400
  const list = addresses.split(/[\s,]+/).filter((text) => text !== '')
  const isPast = end !== null && !(end > now)
  const faults: readonly (readonly [boolean, string])[] = [
    [length < 1 || length > 40, 'Enter a name of 1 to 40 characters.'],
    [scopes.length === 0, 'Choose at least one use.'],
    [isPast, 'Enter a last day that is not over.'],
    [list.length > 20, 'Enter at most 20 addresses.'],
  ]
  return {
    body: {
      name: name.trim(),
      scopes,
      expires_at: end,
      allowed_addresses: list.length === 0 ? null : list,
    },
    errors: faults.filter(([isFault]) => isFault).map(([, text]) => text),
  }
}
