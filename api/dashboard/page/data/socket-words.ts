/** What the page says when the service says something beside data on a socket. */
export interface Words {
  readonly tone: 'info' | 'warn' | 'bad'
  readonly text: string
}

/** A notice of the socket in words; null for those that need none. `message` is any message with a `type`. */
export function noticeWords(message: {
  readonly type: string
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly balance_credits?: number | undefined
}): Words | null {
  if (message.type === 'error')
    return { tone: 'bad', text: FAULTS[message.code ?? ''] ?? `Refused: ${message.message ?? ''}` }
  if (message.type === 'balance_low')
    return {
      tone: 'warn',
      text: `Credits are running low: ${message.balance_credits ?? 0} left. Top up, or the feed will stop when they are used.`,
    }
  return NOTICES[message.type] ?? null
}

/** Why a connection was refused for good, by the code of a refusal of the REST service; null for those that pass. */
export function refusalWords(code: string): Words | null {
  return REFUSALS[code] ?? null
}

/** Whether coming back with the same credential would not help. */
export function isFinal(type: string): boolean {
  return [
    'balance_exhausted',
    'superseded',
    'key_rotated',
    'token_expired',
    'token_revoked',
    'pro_expired',
  ].includes(type)
}

const NOTICES: Readonly<Record<string, Words>> = {
  gap: {
    tone: 'warn',
    text: 'Some trades lie too far back for the feed; they may be found in the history. What follows is complete.',
  },
  balance_exhausted: {
    tone: 'bad',
    text: 'Your credits are used up, so the feed has stopped. Top up, then start it again: it goes on where it stopped.',
  },
  superseded: {
    tone: 'bad',
    text: 'It was opened somewhere else with your account, and only one connection may be open. Start it again here to take it over.',
  },
  key_rotated: {
    tone: 'bad',
    text: 'This API key was replaced by a new one. Give the new key, then start again.',
  },
  restarting: {
    tone: 'info',
    text: 'The service restarts. The feed comes back by itself, where it stopped.',
  },
  slow_reader: {
    tone: 'warn',
    text: 'More came than this page could take. The feed comes back by itself, where it stopped.',
  },
  unavailable: {
    tone: 'warn',
    text: 'The service cannot count credits at the moment. The feed comes back by itself, where it stopped.',
  },
  token_expired: {
    tone: 'bad',
    text: 'Your sign-in has expired. Sign in again on the account page.',
  },
  token_revoked: { tone: 'bad', text: 'You signed out, so live changes have stopped.' },
  pro_expired: {
    tone: 'bad',
    text: 'Your Pro subscription has ended, so live changes have stopped.',
  },
}

const FAULTS: Readonly<Record<string, string>> = {
  wallet_not_found: 'One of these wallets is not tracked. Look at Wallets for those that are.',
  invalid_parameter: 'One of these tokens is not a token address.',
  rate_limited: 'This page sent too many messages in a minute. Start it again.',
  invalid_cursor: 'The feed does not know the place where it stopped. Start it anew.',
  pro_required: 'This view needs an active Pro subscription.',
}

const REFUSALS: Readonly<Record<string, Words>> = {
  unauthorized: {
    tone: 'bad',
    text: 'The service does not accept this key or sign-in: it was replaced, or has expired.',
  },
  insufficient_credits: {
    tone: 'bad',
    text: 'You have no credits left. Top up, then start again.',
  },
  pro_required: { tone: 'bad', text: 'This view needs an active Pro subscription.' },
}
