/** A sentence about the state of the feed, to show on the page. */
export interface FeedNotice {
  readonly tone: 'info' | 'warn' | 'bad'
  readonly text: string
}

/** Returns the notice for a control message of the WebSocket, or null if it needs none. */
export function messageNotice(message: {
  readonly type: string
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly balance_credits?: number | undefined
}): FeedNotice | null {
  if (message.type === 'error')
    return {
      tone: 'bad',
      text: ERRORS[message.code ?? ''] ?? `The service refused this: ${message.message ?? ''}`,
    }
  if (message.type === 'balance_low')
    return {
      tone: 'warn',
      text: `Your credits are running low: ${message.balance_credits ?? 0} left. Top up, or the feed stops when they are used up.`,
    }
  return NOTICES[message.type] ?? null
}

/**
 * Returns why the service refuses a connection, by the code of a REST response. Null for a code
 * that does not rule out the next attempt.
 */
export function refusalNotice(code: string): FeedNotice | null {
  return REFUSALS[code] ?? null
}

/** Whether a message ends the feed so that reconnecting with the same credential is useless. */
export function isFinalMessage(type: string): boolean {
  return [
    'balance_exhausted',
    'superseded',
    'account_disabled',
    'token_expired',
    'token_revoked',
    'pro_expired',
  ].includes(type)
}

const DISABLED: FeedNotice = {
  tone: 'bad',
  text: 'The operator of the service has disabled this account.',
}

const NOTICES: Readonly<Record<string, FeedNotice>> = {
  gap: {
    tone: 'warn',
    text: 'Some trades are too old for the feed, so they are missing here. Load older trades to find them.',
  },
  balance_exhausted: {
    tone: 'bad',
    text: 'Your credits are used up, so the feed has stopped. Top up, then resume where it stopped.',
  },
  superseded: {
    tone: 'bad',
    text: 'These live updates were opened in another window of the dashboard, which can have one connection. Resume to show them here.',
  },
  account_disabled: DISABLED,
  restarting: {
    tone: 'info',
    text: 'The service is restarting. The feed reconnects and continues where it stopped.',
  },
  slow_reader: {
    tone: 'warn',
    text: 'This page received trades faster than it could process them. The feed reconnects and continues where it stopped.',
  },
  unavailable: {
    tone: 'warn',
    text: 'The service cannot count credits at the moment. The feed reconnects and continues where it stopped.',
  },
  token_expired: {
    tone: 'bad',
    text: 'Your sign-in has expired. Sign in again on the account page.',
  },
  token_revoked: { tone: 'bad', text: 'You signed out, so live updates have stopped.' },
  pro_expired: {
    tone: 'bad',
    text: 'Your Pro subscription has ended, so live updates have stopped.',
  },
}

const ERRORS: Readonly<Record<string, string>> = {
  wallet_not_found: 'One of these wallets is not tracked. The page Wallets lists the tracked ones.',
  invalid_parameter: 'One of these tokens is not a token address.',
  rate_limited: 'This page sent too many messages in one minute. Wait a minute, then start again.',
  invalid_cursor: 'The feed cannot continue where it stopped. Start again.',
  pro_required: 'This page needs an active Pro subscription.',
}

const REFUSALS: Readonly<Record<string, FeedNotice>> = {
  unauthorized: {
    tone: 'bad',
    text: 'Your sign-in has expired. Sign in again.',
  },
  account_disabled: DISABLED,
  insufficient_credits: {
    tone: 'bad',
    text: 'You have no credits left. Top up, then start again.',
  },
  pro_required: { tone: 'bad', text: 'This page needs an active Pro subscription.' },
}
