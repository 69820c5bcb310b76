import { decodeAddress, encodeBase58 } from './test-wallet-base58.ts'

const SYSTEM = decodeAddress('11111111111111111111111111111111')
const TOKEN = decodeAddress('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN = decodeAddress('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const USDT_MINT = decodeAddress('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB')
const USDT_DECIMALS = 6
/** For the fee and the rent of the payee's token account. */
const LAMPORTS = 10_000_000

/** What the simulator's faucet gives at once: 1,000,000,000 USDT. */
const MOST_RAW = 10n ** 15n

type Bytes = Uint8Array<ArrayBuffer>

/** Has the faucet give SOL and `rawAmount` raw units of USDT, and sends these to the associated account of `to`, which is opened where it is not there. Gives the signature; rejects with what the RPC says against it. */
export async function payUsdt(
  rpcUrl: string,
  payer: { readonly address: string; readonly privateKey: CryptoKey },
  to: string,
  rawAmount: bigint,
): Promise<string> {
  const { address, privateKey } = payer
  if (rawAmount > MOST_RAW)
    throw new Error('the test wallet pays at most 1,000,000,000 USDT at once')
  await ask(rpcUrl, 'requestAirdrop', address, LAMPORTS)
  await ask(rpcUrl, 'requestUsdtAirdrop', address, Number(rawAmount))
  const latest = (await ask(rpcUrl, 'getLatestBlockhash')) as { value: { blockhash: string } } // as RPC has it
  const message = await paymentMessage({
    payer: decodeAddress(address),
    payee: decodeAddress(to),
    rawAmount,
    blockhash: decodeAddress(latest.value.blockhash),
  })
  const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, message))
  const wire = Uint8Array.of(1, ...signature, ...message)
  const text = btoa(String.fromCharCode(...wire))
  return String(await ask(rpcUrl, 'sendTransaction', text, { encoding: 'base64' }))
}

async function ask(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    result?: unknown
    error?: { message: string }
  } // JSON-RPC 2.0
  if (error !== undefined) throw new Error(error.message)
  return result
}

/**
 * A legacy message: header (signatures, of them read-only, others read-only), keys, blockhash, and two instructions, Associated Token `CreateIdempotent` (1) and Token `TransferChecked` (12: u64 amount, u8 decimals).
 * Each list begins with its length (short_vec, one byte below 128).
 */
async function paymentMessage(payment: {
  readonly payer: Bytes
  readonly payee: Bytes
  readonly rawAmount: bigint
  readonly blockhash: Bytes
}): Promise<Bytes> {
  const { payer, payee, rawAmount, blockhash } = payment
  const [source, destination] = [await associatedAccount(payer), await associatedAccount(payee)]
  const keys = [payer, source, destination, payee, USDT_MINT, SYSTEM, TOKEN, ASSOCIATED_TOKEN]
  const at = (key: Bytes) => keys.indexOf(key)
  const instruction = (program: Bytes, accounts: readonly Bytes[], data: readonly number[]) => [
    at(program),
    ...[accounts.length, ...accounts.map(at)],
    ...[data.length, ...data],
  ]
  const amount = new Uint8Array(8)
  new DataView(amount.buffer).setBigUint64(0, rawAmount, true)
  return Uint8Array.of(
    ...[1, 0, 5],
    ...[keys.length, ...keys.flatMap((key) => [...key])],
    ...blockhash,
    2,
    ...instruction(ASSOCIATED_TOKEN, [payer, destination, payee, USDT_MINT, SYSTEM, TOKEN], [1]),
    ...instruction(TOKEN, [source, USDT_MINT, destination, payer], [12, ...amount, USDT_DECIMALS]),
  )
}

/** Where an owner's USDT lies unless it chose otherwise: the first address of its seeds, by a bump from 255 down, that is on no curve. */
async function associatedAccount(owner: Bytes): Promise<Bytes> {
  for (let bump = 255; bump >= 0; bump--) {
    const seeds = [owner, TOKEN, USDT_MINT, Uint8Array.of(bump), ASSOCIATED_TOKEN, MARKER]
    const hashed = await crypto.subtle.digest(
      'SHA-256',
      Uint8Array.from(seeds.flatMap((seed) => [...seed])),
    )
    const address = new Uint8Array(hashed)
    if (!isOnCurve(address)) return address
  }
  throw new Error(`no associated account of ${encodeBase58(owner)}`)
}

const MARKER = new TextEncoder().encode('ProgramDerivedAddress')

/** The field of Ed25519, and `d` of its curve -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Whether 32 bytes are a point of Ed25519: its y, little-endian without the top bit, has an x when (y^2 - 1) / (d y^2 + 1) is a square. */
function isOnCurve(bytes: Bytes): boolean {
  let y = 0n
  for (let at = 31; at >= 0; at--) y = (y << 8n) | BigInt(bytes[at] ?? 0)
  y &= 2n ** 255n - 1n
  const [u, v] = [(y * y - 1n) % P, (D * y * y + 1n) % P]
  // u / v is a square when u * v is one, which Euler's criterion tells; zero is one too.
  return power((u * v) % P, (P - 1n) / 2n) <= 1n
}

/** `base` to the `exponent`, modulo P. */
function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, ((base % P) + P) % P]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P
    square = (square * square) % P
  }
  return result
}
