import { docsPage, html, paragraphs } from './html.ts'

/** Days until `Expires`; RFC 9116 recommends less than a year. */
const VALID_DAYS = 180

/**
 * Returns `/.well-known/security.txt` (RFC 9116) as of `now`, unix milliseconds. `contact` is a
 * `mailto:` or `https:` URI.
 */
export function securityText(contact: string, serverUrl: string, now: number): string {
  const day = new Date(now + VALID_DAYS * 86_400_000).toISOString().slice(0, 10)
  return `Contact: ${contact}
Expires: ${day}T00:00:00Z
Preferred-Languages: en
Canonical: ${serverUrl}/.well-known/security.txt
Policy: ${serverUrl}/docs/security
`
}

/**
 * Returns the page on how to report a security problem. `contact` is null if the operator names
 * none.
 */
export function securityPage(contact: string | null): string {
  return docsPage(
    'Reporting a security problem',
    html`
    <p><a href="/docs">all documentation</a></p>
    <h1>Reporting a security problem</h1>
    <h2>How to report</h2>
    ${
      contact === null
        ? html`<p>${NO_CONTACT}</p>`
        : html`<p>Write to <a href="${contact}">${contact}</a>, in English.</p>`
    }
    ${paragraphs(POLICY)}`,
  )
}

/** Returns the same page as Markdown. */
export function securityMarkdown(contact: string | null): string {
  const how = contact === null ? NO_CONTACT : `Write to <${contact}>, in English.`
  return `# Reporting a security problem\n\n${how}\n\n${POLICY}\n`
}

const NO_CONTACT =
  'The operator of this installation has not named a contact. Please ask the people who gave you access.'

const POLICY = `Describe the steps that show the problem, what an attacker gains, and the \`X-Request-Id\` of the answers concerned. Do not send API keys, tokens or data of other people.

**Scope.** This host: the REST API, the live feed, login, billing, the dashboard and these
documents. Out of scope: the Solana network, wallet programs, other hosts, attacks by volume alone,
social engineering, physical attacks, and reports of missing best practice without an effect.

**Rules.** Use accounts and wallets of your own. Stop as soon as you see data of somebody else, and
delete it. Stay within the rate limits and do not degrade the service for others. Do not publish the
problem before it is fixed, or before 90 days have passed.

**What we promise.** We confirm your report within three working days and tell you within ten what
we think of it. We keep you informed until it is fixed, and name you as the finder if you wish. We
do not promise a payment.

**Safe harbour.** If you keep to these rules in good faith, you act with our permission. We take no
legal action because of it, and say so to anybody who does. If you are not sure whether something is
allowed, ask first.`
