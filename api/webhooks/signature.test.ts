import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { OVERLAP_MS, WebhookSecrets } from './signature.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const ID = '0b54b1c5-5ce5-4a57-9a1a-6e3f0a6a1f10'
const BODY = '{"type":"trades"}'

/** Whether a receiver with a secret accepts a delivery. */
function accepts(secret: string, headers: Record<string, string>, body = BODY): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

test('a receiver verifies deliveries with the secret of its webhook, and none of another', (t) => {
  const secrets = new WebhookSecrets([key(1)])
  const hook = { id: ID, rotations: 0, rotatedAt: null }
  const headers = secrets.headers(hook, 'delivery', BODY, Date.now())
  t.regex(secrets.secretOf(hook), /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.true(accepts(secrets.secretOf(hook), headers))
  t.false(accepts(secrets.secretOf(hook), headers, '{"type":"other"}'))
  t.false(accepts(secrets.secretOf({ ...hook, id: ID.replace('0', '1') }), headers))
  t.false(accepts(new WebhookSecrets([key(2)]).secretOf(hook), headers))
})

test('after a rotation, of the webhook or of SECRET_KEY, deliveries have both signatures for a while', (t) => {
  const now = Date.now()
  const before = { id: ID, rotations: 0, rotatedAt: null }
  const after = { id: ID, rotations: 1, rotatedAt: now - OVERLAP_MS + 1000 }
  const secrets = new WebhookSecrets([key(1)])
  const headers = secrets.headers(after, 'delivery', BODY, now)
  t.true(accepts(secrets.secretOf(before), headers))
  t.true(accepts(secrets.secretOf(after), headers))
  const later = secrets.headers(after, 'delivery', BODY, now + 1000)
  t.false(accepts(secrets.secretOf(before), later))
  t.true(accepts(secrets.secretOf(after), later))

  const rotated = new WebhookSecrets([key(2), key(1)]).headers(before, 'delivery', BODY, now)
  for (const one of [1, 2])
    t.true(accepts(new WebhookSecrets([key(one)]).secretOf(before), rotated))
})
