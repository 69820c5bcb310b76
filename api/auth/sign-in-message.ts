import { type Address, parseAddress } from '../../pipeline/domain/address.ts'

/**
 * What a sign-in message says (Sign-In With Solana; the ABNF of
 * github.com/phantom/sign-in-with-solana). Times are as written, RFC 3339.
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

/** How long a nonce, and with it a message, is good, in milliseconds (rule E1). */
export const NONCE_MS = 5 * 60_000

/** How far the clocks of two processes may be apart, in milliseconds. */
export const CLOCK_SKEW_MS = 5000

/** Our words above what is signed. */
export const STATEMENT =
  'Sign in to manage your API key and credits. This sends no transaction and costs nothing.'

/**
 * The message that a wallet is to sign: everything the standard knows and we check. `url`: where
 * clients find the API; `issuedAt` in unix milliseconds.
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

/** Reads a message by the standard's grammar; null when it is none, to the last character. */
export function parseSignIn(text: string): SignInMessage | null {
  if (text.length > MAX_LENGTH) return null
  const [first = '', second = '', ...lines] = text.split('\n')
  const domain = first.endsWith(PREAMBLE) ? first.slice(0, -PREAMBLE.length) : ''
  const address = parseAddress(second)
  if (!/^[^\s/?#]+$/.test(domain) || address === null) return null
  const message: Record<string, unknown> = { domain, address }
  const take = () => lines.shift() ?? ''
  // Each block begins with an empty line: the statement, and the fields.
  if (lines[0] === '' && lines[1] !== undefined && !isField(lines[1])) {
    take()
    message.statement = take()
    if (!STATEMENT_TEXT.test(String(message.statement))) return null
  }
  if (lines.length === 0) return message as unknown as SignInMessage // read field by field
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
  return lines.length === 0 ? (message as unknown as SignInMessage) : null // read field by field
}

/** Why a message is not the one that we handed out. */
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
 * Checks that a message is for us, of this wallet, and of now; each field has to be there, whatever
 * a wallet left out. Whether the nonce was handed out is for somebody else to say. `now`: unix
 * milliseconds; null: nothing is wrong.
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
    // Another process may have handed it out, by a clock of its own.
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

/** The fields in their order: name, key, form. */
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
