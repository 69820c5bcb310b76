import { z } from 'zod'
import { type Address, parseAddress } from '../domain/address.ts'
import { DECODER_VERSION } from '../domain/decoder-version.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'
import type { Refold, SlotMarker, WalletRecord } from '../domain/slot.ts'
import type { LateOrigin } from './log.ts'

/** What one entry of a partition holds: a slot's marker, one record of a wallet, or a request to fold one anew. */
export type LogMessage =
  | { readonly kind: 'marker'; readonly marker: SlotMarker }
  | ({ readonly kind: 'record' } & RecordMessage)
  | { readonly kind: 'refold'; readonly refold: Refold }

/** A record with what is known of how it came here. */
export interface RecordMessage {
  readonly record: WalletRecord
  readonly late: LateOrigin | null
  /** `DECODER_VERSION` of the process that made the record; where it is absent, that is this one. */
  readonly decoderVersion?: number
}

/**
 * What the bytes of an entry are. `malformed`: not ours, or damaged; whoever reads passes it by. `newer`: written by a later version of the
 * service; whoever passed it by would lose events, so a reader stops there until it is upgraded.
 */
export type Decoded =
  | { readonly kind: 'ok'; readonly message: LogMessage }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason }
  | { readonly kind: 'newer'; readonly version: number }

/** Why an entry cannot be read. */
export type MalformedReason = 'empty' | 'not_json' | 'no_version' | 'wrong_shape'

/** Version of the format that is written. A change that older readers would misread raises it (decisions K3). */
export const FORMAT_VERSION = 1

/**
 * The JSON text of an entry, versioned, integers of 64 bits and more as decimal strings, bytes in base64. `decodeMessage` gives the same value back.
 *
 * Example: `{"v":1,"kind":"sol_transfer","slot":5,"txIndex":0,"wallet":12,"eventIndex":0,...,"lamports":"1000","late":null,"decoderVersion":1}`
 */
export function encodeMessage(message: LogMessage): string {
  if (message.kind === 'record' && message.record.kind === 'kept') {
    // Kilobytes of base64 need no look for what JSON would escape.
    const { bytes, ...record } = message.record
    const { decoderVersion = DECODER_VERSION, late } = message
    const rest = JSON.stringify({ v: FORMAT_VERSION, ...record, late, decoderVersion })
    return `${rest.slice(0, -1)},"bytes":"${base64Of(bytes)}"}`
  }
  return JSON.stringify({ v: FORMAT_VERSION, ...bodyOf(message) }, (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

function bodyOf(message: LogMessage): object {
  switch (message.kind) {
    case 'marker':
      return { kind: 'marker', ...message.marker }
    case 'refold':
      return { kind: 'refold', ...message.refold }
    case 'record': {
      const { record, late, decoderVersion = DECODER_VERSION } = message
      return { ...record, late, decoderVersion }
    }
  }
}

function base64Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64')
}

/** Reads an entry. Every field is checked, an unknown one is refused; never throws on bytes. */
export function decodeMessage(value: Uint8Array | null): Decoded {
  if (value === null || value.length === 0) return { kind: 'malformed', reason: 'empty' }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8'))
  } catch {
    return { kind: 'malformed', reason: 'not_json' }
  }
  const version = versionOf(json)
  if (version === null) return { kind: 'malformed', reason: 'no_version' }
  if (version > FORMAT_VERSION) return { kind: 'newer', version }
  const parsed = Entry.safeParse(json)
  if (!parsed.success) return { kind: 'malformed', reason: 'wrong_shape' }
  if (parsed.data.kind === 'marker') {
    const { v, kind, ...marker } = parsed.data
    return { kind: 'ok', message: { kind, marker } }
  }
  if (parsed.data.kind === 'refold') {
    const { v, kind, ...refold } = parsed.data
    return { kind: 'ok', message: { kind, refold } }
  }
  const { v, late, decoderVersion, ...record } = parsed.data
  return { kind: 'ok', message: { kind: 'record', record, late, decoderVersion } }
}

function versionOf(json: unknown): number | null {
  const version = typeof json === 'object' && json !== null && 'v' in json ? json.v : null
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 0
    ? version
    : null
}

const natural = z.int().min(0)
const unixSeconds = z.int().min(0).max(0xffff_ffff)
const integer = (bits: number) => {
  const limit = 1n << BigInt(bits)
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,38})$/)
    .transform(BigInt)
    .refine((value) => value < limit)
}
const u64 = integer(64)
const u128 = integer(128)
/** Addresses found good lately: the same mints and programs come again and again, and checking one costs 2 us. */
const known = new Map<string, Address>()
const MAX_KNOWN = 10_000

const addressText = z.string().transform((text, context): Address => {
  const address = known.get(text) ?? parseAddress(text)
  if (address !== null) {
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(text, address)
    return address
  }
  context.addIssue({ code: 'custom', message: 'not an address' })
  return z.NEVER
})
const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)

/** Versions of rows are revision x 2^32 + records folded, and are safe integers. */
const MAX_REVISION = 2 ** 21 - 1

const version = { v: z.literal(FORMAT_VERSION) }
const place = {
  ...version,
  slot: natural,
  txIndex: natural,
  wallet: z.int().min(1),
  blockTime: unixSeconds,
  late: z.enum(['stream', 'backfill']).nullable(),
  decoderVersion: z.int().min(1).max(0xffff),
}
const event = { ...place, eventIndex: natural, signature }
const base64 = z.string().transform((text, context): Uint8Array => {
  const bytes = Buffer.from(text, 'base64')
  // What is no base64 is left out by Node, so that there is less.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (bytes.length <= MAX_KEPT_BYTES && bytes.length === (text.length * 3) / 4 - padding)
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  context.addIssue({ code: 'custom', message: 'not base64' })
  return z.NEVER
})
const direction = z.enum(['in', 'out'])
const decimals = z.int().min(0).max(255)

const Entry = z.discriminatedUnion('kind', [
  z.strictObject({
    ...version,
    kind: z.literal('marker'),
    slot: natural,
    parent: natural,
    blockTime: unixSeconds,
    solPrice: z.strictObject({ time: unixSeconds, usdE9: u64 }).nullable(),
  }),
  z.strictObject({
    ...version,
    kind: z.literal('refold'),
    wallet: z.int().min(1),
    revision: z.int().min(1).max(MAX_REVISION),
  }),
  z.strictObject({
    ...event,
    kind: z.literal('swap'),
    side: z.enum(['buy', 'sell']),
    baseMint: addressText,
    baseAmount: u128,
    baseDecimals: decimals,
    quoteMint: addressText.nullable(),
    quoteAmount: u128,
    program: z.string().min(1).max(100),
    programId: addressText,
    confidence: z.enum(['high', 'delta_only']),
    quoteMismatch: z.boolean(),
    feeLamports: u64,
    solPriceUsdE9: u64.nullable(),
  }),
  z.strictObject({
    ...event,
    kind: z.literal('token_transfer'),
    direction,
    mint: addressText,
    amount: u128,
    decimals,
  }),
  z.strictObject({ ...event, kind: z.literal('sol_transfer'), direction, lamports: u64 }),
  z.strictObject({ ...place, kind: z.literal('balance'), lamports: u64 }),
  z.strictObject({
    ...place,
    kind: z.literal('undecoded'),
    signature,
    programId: addressText.nullable(),
    reason: z.string().min(1).max(100),
  }),
  z.strictObject({
    ...place,
    kind: z.literal('kept'),
    signature,
    format: z.int().min(0).max(255),
    bytes: base64,
  }),
])
