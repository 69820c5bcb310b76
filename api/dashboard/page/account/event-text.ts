import type { AccountEventEntry } from '../responses.ts'

/** Describes a security event, with its count if it happened more than once. */
export function accountEventText({
  kind,
  count,
}: Pick<AccountEventEntry, 'kind' | 'count'>): string {
  const text = TEXTS[kind] ?? kind
  return count === 1 ? text : `${text} (${count} times within an hour)`
}

/** Names the network that an event came from. */
export function networkText(network: string): string {
  return NETWORKS[network] ?? network
}

/** Display text of each event kind. An unknown kind is shown by its name. */
const TEXTS: Readonly<Record<string, string>> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in refused: wrong signature',
  signed_out: 'Signed out',
  signed_out_everywhere: 'Signed out everywhere',
  key_created: 'API key created',
  key_rotated: 'API key rotated',
  key_refused: 'Request refused: an API key from before a rotation was used',
} satisfies Record<AccountEventEntry['kind'], string>

const NETWORKS: Readonly<Record<string, string>> = {
  other: 'Other networks',
  unknown: 'Unknown',
}
