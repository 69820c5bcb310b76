import { type Address, parseAddress } from '../../pipeline/domain/address.ts'

/**
 * The fields of a sign-in message (Sign-In With Solana, ABNF in
 * github.com/phantom/sign-in-with-solana). Times are RFC 3339 text, as written.
 */
export interface SignInMessage {
  readonly domain: string
  readonly address: Address
  readonly statement?: string
  readonly uri?: string
  readonly version?: string
  readonly chainId?: string
  readonly nonce?: string
  readonly issuedAt?: string
  readonly expirationTime?: string
  readonly notBefore?: string
  readonly requestId?: string
  readonly resources?: readonly string[]
}

/** Lifetime of a nonce and its message, in milliseconds (rule E1). */
export const NONCE_MS = 5 * 60_000

/** How far the clocks of two processes may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 5000

/** The statement that a wallet shows to its user before signing. */
export const STATEMENT =
  'Sign in to manage your API key and credits. This sends no transaction and costs nothing.'

/**
 * Returns the message that a wallet signs, with every field of the standard that `faultOfSignIn`
 * checks. `url`: where clients find the API. `issuedAt`: unix milliseconds.
 */
export function signInMessage(given: {
  readonly url: string
  readonly wallet: Address
  readonly nonce: string
  readonly issuedAt: number
}): string {
  const { url, wallet, nonce, issuedAt } = given
  return writeSignIn({
    domain: new URL(url).host,
    address: wallet,
    statement: STATEMENT,
    uri: url,
    version: '1',
    chainId: 'mainnet',
    nonce,
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(issuedAt + NONCE_MS).toISOString(),
  })
}

function writeSignIn(message: SignInMessage): string {
  const { domain, address, statement } = message
  const fields = FIELDS.flatMap(([name, key]) =>
    message[key] === undefined ? [] : [`${name}: ${message[key]}`],
  )
  return [`${domain}${PREAMBLE}`, address, '', statement, '', ...fields].join('\n')
}

/** Parses a message by the standard's grammar. Returns null unless the whole text matches. */
export function parseSignIn(text: string): SignInMessage | null {
  if (text.length > MAX_LENGTH) return null
  const [first = '', second = '', ...lines] = text.split('\n')
  const domain = first.endsWith(PREAMBLE) ? first.slice(0, -PREAMBLE.length) : ''
  const address = parseAddress(second)
  if (!/^[^\s/?#]+$/.test(domain) || address === null) return null
  const message: Record<string, unknown> = { domain, address }
  const take = () => lines.shift() ?? ''
  // An empty line precedes each block: the statement, then the fields.
  if (lines[0] === '' && lines[1] !== undefined && !isField(lines[1])) {
    take()
    message.statement = take()
    if (!STATEMENT_TEXT.test(String(message.statement))) return null
  }
  if (lines.length === 0) return message as unknown as SignInMessage // built above
  if (take() !== '' || lines.length === 0) return null
  for (const [name, key, value] of FIELDS) {
    if (!lines[0]?.startsWith(`${name}: `)) continue
    message[key] = take().slice(name.length + 2)
    if (!value.test(String(message[key]))) return null
  }
  if (lines[0] === 'Resources:') {
    take()
    const resources = lines.splice(0)
    if (!resources.every((line) => line.startsWith('- ') && URI_TEXT.test(line.slice(2))))
      return null
    message.resources = resources.map((line) => line.slice(2))
  }
  return lines.length === 0 ? (message as unknown as SignInMessage) : null // built above
}

/** The first field of a message that differs from what the service issues. */
export type SignInFault =
  | 'domain'
  | 'address'
  | 'statement'
  | 'uri'
  | 'version'
  | 'chain'
  | 'nonce'
  | 'issued_at'
  | 'expiration_time'
  | 'not_before'

/**
 * Checks that a message is for this service, for this wallet, and valid at `now` (unix
 * milliseconds). Every field is required. Returns null for a valid message. The caller checks that
 * the nonce was issued by the service.
 */
export function faultOfSignIn(
  message: SignInMessage,
  expected: { readonly url: string; readonly wallet: Address; readonly now: number },
): SignInFault | null {
  const { url, wallet, now } = expected
  const issued = Date.parse(message.issuedAt ?? '')
  const expires = Date.parse(message.expirationTime ?? '')
  const begins = Date.parse(message.notBefore ?? message.issuedAt ?? '')
  const faults: readonly (readonly [SignInFault, boolean])[] = [
    ['domain', message.domain !== new URL(url).host],
    ['address', message.address !== wallet],
    ['statement', message.statement !== STATEMENT],
    ['uri', message.uri !== url],
    ['version', message.version !== '1'],
    ['chain', message.chainId !== 'mainnet' && message.chainId !== 'solana:mainnet'],
    ['nonce', message.nonce === undefined],
    // Another process, with its own clock, may have issued the message.
    ['issued_at', !(issued <= now + CLOCK_SKEW_MS && issued > now - NONCE_MS)],
    ['expiration_time', !(expires > now && expires <= issued + NONCE_MS)],
    ['not_before', !(begins <= now + CLOCK_SKEW_MS)],
  ]
  return faults.find(([, isFault]) => isFault)?.[0] ?? null
}

const PREAMBLE = ' wants you to sign in with your Solana account:'
const MAX_LENGTH = 4096

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const STATEMENT_TEXT = /^[\w.~:/?#[\]@!$&'()*+,;= -]+$/
const URI_TEXT = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/

/** The fields in their order: name, key, format. */
const FIELDS = [
  ['URI', 'uri', URI_TEXT],
  ['Version', 'version', /^1$/],
  ['Chain ID', 'chainId', /^(solana:)?(mainnet|testnet|devnet|localnet)$/],
  ['Nonce', 'nonce', /^[A-Za-z0-9]{8,64}$/],
  ['Issued At', 'issuedAt', TIME],
  ['Expiration Time', 'expirationTime', TIME],
  ['Not Before', 'notBefore', TIME],
  ['Request ID', 'requestId', /^[\w.~:@!$&'()*+,;=%-]*$/],
] as const satisfies readonly (readonly [string, keyof SignInMessage, RegExp])[]

function isField(line: string): boolean {
  return line === 'Resources:' || FIELDS.some(([name]) => line.startsWith(`${name}: `))
}
