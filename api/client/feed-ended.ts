import type { CloseReason, MessageFault } from '../stream/messages.ts'

/** Why the feed is over for this client. Reconnecting with the same credential would not help. */
export class FeedEnded extends Error {
  readonly code:
    | CloseReason
    | Exclude<MessageFault, 'rate_limited'>
    | 'unauthorized'
    | 'insufficient_credits'
    | 'refused'

  constructor(code: FeedEnded['code'], message: string) {
    super(message)
    this.name = 'FeedEnded'
    this.code = code
  }
}

/**
 * The end for a close reason that is final; null for a temporary one. The message says what helps.
 */
export function finalEnd(type: string): FeedEnded | null {
  return isFinal(type) ? new FeedEnded(type, FINAL[type]) : null
}

const FINAL = {
  balance_exhausted: 'no credits are left: top up, then resume from the last id',
  superseded: 'another program or dashboard is connected with this key: stop one of the two',
  key_rotated: 'this key was replaced: use the new one',
  key_deleted: 'this key was deleted: use another one',
  key_expired: 'this key has expired: use another one',
  account_disabled: 'the operator of the service has disabled this account',
  token_expired: 'the token has expired: log in again',
  token_revoked: 'the token was revoked by a logout: log in again',
  pro_expired: 'Pro of this wallet has ended: renew it',
} as const satisfies Partial<Record<CloseReason, string>>

function isFinal(type: string): type is keyof typeof FINAL {
  return Object.hasOwn(FINAL, type)
}
