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
  key_deleted: 'API key deleted',
  key_refused: 'Request refused: a replaced, deleted or expired API key was used',
  session_revoked: 'Session ended from the list of sessions',
  webhook_created: 'Webhook created',
  webhook_deleted: 'Webhook deleted',
  webhook_secret_rotated: 'Secret of a webhook rotated',
} satisfies Record<AccountEventEntry['kind'], string>

const NETWORKS: Readonly<Record<string, string>> = {
  other: 'Other networks',
  operator: 'The operator of the service',
  unknown: 'Unknown',
}
