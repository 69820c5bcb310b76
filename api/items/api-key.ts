import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { KEY_SCOPES, type NamedKey, type NamedKeyTerms } from '../accounts/named-keys.ts'
import { time } from './fields.ts'

/** How many addresses and networks the list of a key may have. */
const MOST_ADDRESSES = 20
const SCOPES = { error: 'expected a list of read, feed or both' }
const scopes = z
  .array(z.enum(KEY_SCOPES, SCOPES), SCOPES)
  .min(1, SCOPES)
  .max(KEY_SCOPES.length, SCOPES)
  .meta({
    description: '`read`: REST calls of the product. `feed`: the live feed',
    uniqueItems: true,
  })

/** A named API key, as its owner sees it (rule L15). */
export const ApiKeyItem = z
  .strictObject({
    id: z.uuid().describe('Names the key, to delete it'),
    name: z.string(),
    last4: z.string().describe('Last four characters of the key'),
    scopes,
    allowed_addresses: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Clients that may use it, as CIDR; null: all may' }),
    created_at: time,
    expires_at: time.nullable().meta({ description: 'From then on it is refused; null: never' }),
    last_used_at: time
      .nullable()
      .meta({ description: 'When it was last used; up to 10 s old; null: never' }),
  })
  .meta({ id: 'ApiKeyItem', description: 'An API key beside the own key of an account.' })

/** The request body for a new named key. */
export const NewKeyTerms = z.object({
  name: z
    .string()
    .refine(isName, 'expected 1 to 40 characters, none of control, and no space at either end')
    .meta({
      minLength: 1,
      maxLength: 40,
      format: 'key-name',
      description: 'What the key is for',
    }),
  scopes: scopes.refine((list) => new Set(list).size === list.length, 'expected each scope once'),
  expires_at: time
    .max(4_102_444_799)
    .nullable()
    .default(null)
    .meta({ description: 'After now; null, the default: it does not expire' }),
  allowed_addresses: z
    .array(z.string().max(64).transform(cidrOf).meta({ type: 'string', format: 'cidr' }))
    .min(1)
    .max(MOST_ADDRESSES)
    .nullable()
    .default(null)
    .meta({
      description:
        'IPv4 or IPv6 addresses, or networks in CIDR notation, of the clients that may use the key; null, the default: all may',
    }),
})

/** Returns the terms of a new key. */
export function termsOf(body: z.output<typeof NewKeyTerms>): NamedKeyTerms {
  return {
    name: body.name,
    scopes: body.scopes,
    allowedAddresses: [...new Set(body.allowed_addresses ?? [])],
    expiresAt: body.expires_at === null ? null : body.expires_at * 1000,
  }
}

/** Renders a key. `lastUsed` is in unix milliseconds. */
export function apiKeyItem(
  key: NamedKey,
  lastUsed: number | undefined,
): z.input<typeof ApiKeyItem> {
  return {
    id: key.id,
    name: key.name,
    last4: key.last4,
    scopes: [...key.scopes],
    allowed_addresses: key.allowedAddresses.length === 0 ? null : [...key.allowedAddresses],
    created_at: seconds(key.createdAt),
    expires_at: key.expiresAt === null ? null : seconds(key.expiresAt),
    last_used_at: lastUsed === undefined ? null : seconds(lastUsed),
  }
}

function isName(text: string): boolean {
  const length = [...text].length
  return length >= 1 && length <= 40 && text.trim() === text && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

/** Returns a network as normalised CIDR text; an address is a network of its own. */
function cidrOf(text: string, context: z.RefinementCtx): string {
  const whole = ipaddr.isValid(text) ? `${text}/${text.includes(':') ? 128 : 32}` : text
  if (/^[0-9a-f.:]+\/[0-9]{1,3}$/i.test(whole) && ipaddr.isValidCIDR(whole)) {
    const [address, bits] = ipaddr.parseCIDR(whole)
    const isFull = address.kind() === 'ipv4' ? text.split('.').length === 4 : true
    if (isFull) {
      const network =
        address.kind() === 'ipv4'
          ? ipaddr.IPv4.networkAddressFromCIDR(whole)
          : ipaddr.IPv6.networkAddressFromCIDR(whole)
      return `${network.toString()}/${bits}`
    }
  }
  context.addIssue({ code: 'custom', message: 'expected an IP address or a network as CIDR' })
  return z.NEVER
}

function seconds(unixMs: number): number {
  return Math.floor(unixMs / 1000)
}
