import test from 'ava'
import { apiEnv } from '../config.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets } from '../testing/rows.ts'
import { startApi } from '../testing/start-api.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 1)
})
test.after.always(() => opened.remove())

const DAY_MS = 86_400_000

test('security.txt names the contact, and never expires while the service runs (RFC 9116)', async (t) => {
  let now = Date.UTC(2026, 10, 22, 12)
  const config = { securityContact: 'mailto:security@example.org' }
  const api = await startApi(opened.store, { config, now: () => now })
  const read = async () => {
    const response = await fetch(`${api.url}/.well-known/security.txt`)
    t.is(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    return response.text()
  }
  const text = (expires: string) =>
    [
      'Contact: mailto:security@example.org',
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      `Canonical: ${api.url}/.well-known/security.txt`,
      `Policy: ${api.url}/docs/security`,
      '',
    ].join('\n')
  t.is(await read(), text('2027-05-21T00:00:00Z'))
  now += 400 * DAY_MS
  t.is(await read(), text('2028-06-24T00:00:00Z'))
  const page = await (await fetch(`${api.url}/docs/security`)).text()
  t.true(page.includes('<a href="mailto:security@example.org">mailto:security@example.org</a>'))
  await api.close()
})

test('without a contact there is no security.txt, and the policy says so', async (t) => {
  const api = await startApi(opened.store)
  const missing = await fetch(`${api.url}/.well-known/security.txt`)
  t.like(await missing.json(), { status: 404, code: 'not_found' })
  const page = await (await fetch(`${api.url}/docs/security`)).text()
  t.true(page.includes('The operator of this installation has not named a contact.'))
  t.true((await (await fetch(`${api.url}/docs`)).text()).includes('href="/docs/security"'))
  await api.close()
})

test('a contact is a mailto: or https: URI', (t) => {
  const accepts = (text: string) => apiEnv.SECURITY_CONTACT.safeParse(text).success
  for (const contact of ['mailto:security@example.org', 'https://example.org/report?x=1'])
    t.true(accepts(contact), contact)
  for (const contact of [
    ...['security@example.org', 'http://example.org', 'mailto:', 'mailto:nobody', 'https://'],
    ...['javascript:alert(1)', 'https://example.org/\nExpires: never', 'https://example.org/ü'],
  ])
    t.false(accepts(contact), contact)
})

test('pages open no window to another origin, and use no device feature but writing to the clipboard', async (t) => {
  const api = await startApi(opened.store)
  for (const path of ['/', '/docs', '/docs/rest', '/docs/security', '/dashboard']) {
    const { status, headers } = await fetch(`${api.url}${path}`)
    t.is(status, 200)
    t.is(headers.get('cross-origin-opener-policy'), 'same-origin', path)
    const policy = headers.get('permissions-policy')?.split(', ') ?? []
    t.true(policy.length > 15)
    t.deepEqual(
      policy.filter((entry) => !/^[a-z-]+=\(\)$/.test(entry)),
      ['clipboard-write=(self)'],
    )
  }
  await api.close()
})
