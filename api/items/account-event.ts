import { z } from 'zod'
import type { AccountEvent } from '../accounts/account-events.ts'
import { count, time } from './fields.ts'

/** A security event of an account. */
export const AccountEventItem = z
  .strictObject({
    kind: z
      .enum([
        'signed_in',
        'sign_in_failed',
        'signed_out',
        'signed_out_everywhere',
        'key_created',
        'key_rotated',
        'key_deleted',
        'session_revoked',
        'webhook_created',
        'webhook_deleted',
        'webhook_secret_rotated',
        'key_refused',
      ])
      .meta({
        description:
          'What happened. `sign_in_failed`: a login for this wallet had an invalid signature. `key_refused`: a replaced, deleted or expired key was used. `session_revoked`: a sign-in was ended from the list of sessions. More kinds may be added.',
      }),
    at: time.describe('When it happened; for a counted event, the first time in its hour'),
    network: z.string().meta({
      description:
        'Network of the client: IPv4 /24 or IPv6 /48, `other` for networks after the first 20 of an hour, `operator` for what the operator of the service did, or `unknown`',
      examples: ['192.0.2.0/24', '2001:db8:1::/48'],
    }),
    count: count.describe(
      'How often it happened in that hour; always 1 except for `sign_in_failed` and `key_refused`',
    ),
  })
  .meta({ id: 'AccountEventItem', description: 'A security event of an account.' })

export function accountEventItem({
  kind,
  at,
  network,
  count,
}: AccountEvent): z.infer<typeof AccountEventItem> {
  return { kind, at: Math.floor(at / 1000), network, count }
}
