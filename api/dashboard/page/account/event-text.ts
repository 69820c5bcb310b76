import type { AccountEvent } from '../answers.ts'

/** What happened, in words for the owner of the account. */
export function eventText({ kind, count }: Pick<AccountEvent, 'kind' | 'count'>): string {
  const what = TEXTS[kind] ?? kind
  return count === 1 ? what : `${what} (${count} times within an hour)`
}

/** Where it came from; a network says more than its notation. */
export function networkText(network: string): string {
  return NETWORKS[network] ?? network
}

/** A kind that is newer than this page is shown as it is. */
const TEXTS: Readonly<Record<string, string>> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in refused: wrong signature',
  signed_out: 'Signed out',
  signed_out_everywhere: 'Signed out everywhere',
  key_created: 'API key created',
  key_rotated: 'API key replaced',
  key_refused: 'Call refused: replaced API key',
} satisfies Record<AccountEvent['kind'], string>

const NETWORKS: Readonly<Record<string, string>> = {
  other: 'Other networks',
  unknown: 'Unknown',
}
