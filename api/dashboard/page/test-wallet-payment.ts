import { decodeAddress, encodeBase58 } from './test-wallet-base58.ts'

const SYSTEM = decodeAddress('11111111111111111111111111111111')
const TOKEN = decodeAddress('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN = decodeAddress('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const USDT_MINT = decodeAddress('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB')
const USDT_DECIMALS = 6
/** Pays for the fee and for the rent of the payee's token account. */
const LAMPORTS = 10_000_000

/** The simulator's faucet gives at most 1,000,000,000 USDT per request, here in raw units. */
const MAX_RAW_AMOUNT = 10n ** 15n

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Requests SOL and `rawAmount` raw units of USDT from the simulator's faucet, and sends the USDT to
 * the associated token account of `to`, which it creates if needed.
 * Returns the signature of the transaction. Rejects with the error of the RPC.
 */
export async function payUsdt(
  rpcUrl: string,
  payer: { readonly address: string; readonly privateKey: CryptoKey },
  to: string,
  rawAmount: bigint,
): Promise<string> {
  const { address, privateKey } = payer
  if (rawAmount > MAX_RAW_AMOUNT)
    throw new Error('the test wallet pays at most 1,000,000,000 USDT per payment')
  await callRpc(rpcUrl, 'requestAirdrop', address, LAMPORTS)
  await callRpc(rpcUrl, 'requestUsdtAirdrop', address, Number(rawAmount))
  // Solana RPC
  const latest = (await callRpc(rpcUrl, 'getLatestBlockhash')) as { value: { blockhash: string } }
  const message = await paymentMessage({
    payer: decodeAddress(address),
    payee: decodeAddress(to),
    rawAmount,
    blockhash: decodeAddress(latest.value.blockhash),
  })
  const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, message))
  const wire = Uint8Array.of(1, ...signature, ...message)
  const text = btoa(String.fromCharCode(...wire))
  return String(await callRpc(rpcUrl, 'sendTransaction', text, { encoding: 'base64' }))
}

async function callRpc(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
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
 * Builds a legacy message: header (signatures, read-only signed accounts, read-only unsigned
 * accounts), keys, blockhash, and two instructions: Associated Token `CreateIdempotent` (1), and
 * Token `TransferChecked` (12: u64 amount, u8 decimals).
 * Each list begins with its length as short_vec, one byte for less than 128 entries.
 */
async function paymentMessage(payment: {
  readonly payer: Bytes
  readonly payee: Bytes
  readonly rawAmount: bigint
  readonly blockhash: Bytes
}): Promise<Bytes> {
  const { payer, payee, rawAmount, blockhash } = payment
  const [source, destination] = [
    await associatedTokenAccount(payer),
    await associatedTokenAccount(payee),
  ]
  const keys = [payer, source, destination, payee, USDT_MINT, SYSTEM, TOKEN, ASSOCIATED_TOKEN]
  const at = (key: Bytes) => keys.indexOf(key)
  const instruction = (program: Bytes, accounts: readonly Bytes[], data: readonly number[]) => [
    at(program),
    accounts.length,
    ...accounts.map(at),
    data.length,
    ...data,
  ]
  const amount = new Uint8Array(8)
  new DataView(amount.buffer).setBigUint64(0, rawAmount, true)
  return Uint8Array.of(
    1,
    0,
    5,
    keys.length,
    ...keys.flatMap((key) => [...key]),
    ...blockhash,
    2,
    ...instruction(ASSOCIATED_TOKEN, [payer, destination, payee, USDT_MINT, SYSTEM, TOKEN], [1]),
    ...instruction(TOKEN, [source, USDT_MINT, destination, payer], [12, ...amount, USDT_DECIMALS]),
  )
}

/**
 * Derives the associated token account of an owner for USDT: the address of the highest bump, from
 * 255 down, that is not on the Ed25519 curve.
 */
async function associatedTokenAccount(owner: Bytes): Promise<Bytes> {
  for (let bump = 255; bump >= 0; bump--) {
    const seeds = [owner, TOKEN, USDT_MINT, Uint8Array.of(bump), ASSOCIATED_TOKEN, MARKER]
    const hashed = await crypto.subtle.digest(
      'SHA-256',
      Uint8Array.from(seeds.flatMap((seed) => [...seed])),
    )
    const address = new Uint8Array(hashed)
    if (!isOnCurve(address)) return address
  }
  throw new Error(`no associated token account for ${encodeBase58(owner)}`)
}

const MARKER = new TextEncoder().encode('ProgramDerivedAddress')

/** Prime and `d` of the Ed25519 curve -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/**
 * Whether 32 bytes are a point of Ed25519. They are y, little-endian without the top bit, and there
 * is an x if (y^2 - 1) / (d y^2 + 1) is a square.
 */
function isOnCurve(bytes: Bytes): boolean {
  let y = 0n
  for (let at = 31; at >= 0; at--) y = (y << 8n) | BigInt(bytes[at] ?? 0)
  y &= 2n ** 255n - 1n
  const [u, v] = [(y * y - 1n) % P, (D * y * y + 1n) % P]
  // u / v is a square if u * v is one (Euler's criterion). Zero is a square too.
  return power((u * v) % P, (P - 1n) / 2n) <= 1n
}

/** Returns `base` to the power of `exponent`, modulo P. */
function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, ((base % P) + P) % P]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P
    square = (square * square) % P
  }
  return result
}
