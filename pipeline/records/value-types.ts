import { type Address, parseAddress } from '../domain/address.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'

/** The type of a field: which values it has, and how an entry of the log holds them. */
export interface AnyValueType {
  /** Reads a value that `JSON.parse` returned. Undefined if it is not a value of this type. */
  readonly read: (json: unknown) => unknown
  /** The type of the values that are not null, for a nullable type. */
  readonly of?: AnyValueType
  /** All values, for a type that lists them. */
  readonly values?: readonly string[]
}

/** `in out`: a type that lacks a value of a union `T`, or has one more, does not compile. */
export interface ValueType<in out T> extends AnyValueType {
  readonly read: (json: unknown) => T | undefined
}

/** Integers from `min` to `max`. */
export function integerBetween(min: number, max: number): ValueType<number> {
  return {
    read: (json) =>
      typeof json === 'number' && Number.isSafeInteger(json) && json >= min && json <= max
        ? json
        : undefined,
  }
}

export const natural = integerBetween(0, Number.MAX_SAFE_INTEGER)
/** The number n of a tracked wallet `W<n>`. */
export const walletNumber = integerBetween(1, Number.MAX_SAFE_INTEGER)
export const unixSeconds = integerBetween(0, 0xffff_ffff)
export const u8 = integerBetween(0, 0xff)

/** Unsigned integers of `bits` bits as decimal strings, without leading zeros. */
function decimal(bits: number): ValueType<bigint> {
  const max = (1n << BigInt(bits)) - 1n
  return {
    read(json) {
      if (typeof json !== 'string' || json.length > 39 || !DECIMAL.test(json)) return undefined
      const exact = BigInt(json)
      return exact <= max ? exact : undefined
    },
  }
}

const DECIMAL = /^(?:0|[1-9][0-9]*)$/

export const u64 = decimal(64)
export const u128 = decimal(128)

export const boolean: ValueType<boolean> = {
  read: (json) => (typeof json === 'boolean' ? json : undefined),
}

/** One of some texts. */
export function oneOf<T extends string>(...values: readonly T[]): ValueType<T> {
  return { values, read: (json) => values.find((value) => value === json) }
}

/** Texts of 1 to 100 characters. */
export const shortText: ValueType<string> = {
  read: (json) =>
    typeof json === 'string' && json.length >= 1 && json.length <= 100 ? json : undefined,
}

/** Base58 of the length of a signature. That it has 64 bytes is not checked. */
export const signature: ValueType<string> = {
  read: (json) =>
    typeof json === 'string' && json.length >= 64 && json.length <= 88 && !NOT_BASE58.test(json)
      ? json
      : undefined,
}

const NOT_BASE58 = /[^1-9A-HJ-NP-Za-km-z]/

/** Base58 of exactly 32 bytes. */
export const pubkey: ValueType<Address> = {
  read(json) {
    if (typeof json !== 'string') return undefined
    const known = knownAddresses.get(json)
    if (known !== undefined) return known
    const parsed = parseAddress(json)
    if (parsed === null) return undefined
    if (knownAddresses.size >= MAX_KNOWN_ADDRESSES) knownAddresses.clear()
    knownAddresses.set(json, parsed)
    return parsed
  },
}

/** Valid addresses read before: the same mints and programs recur, and checking one takes 2 us. */
const knownAddresses = new Map<string, Address>()
const MAX_KNOWN_ADDRESSES = 10_000

/**
 * At most `MAX_KEPT_BYTES` bytes: as such, where they follow the JSON text, or in base64, as in
 * format versions 1 and 2.
 */
export const keptBytes: ValueType<Uint8Array> = {
  read(json) {
    if (json instanceof Uint8Array) return json.length <= MAX_KEPT_BYTES ? json : undefined
    if (typeof json !== 'string') return undefined
    const { buffer, byteOffset, length } = Buffer.from(json, 'base64')
    const padding = json.endsWith('==') ? 2 : json.endsWith('=') ? 1 : 0
    // Node skips characters that are not base64, so the result is then shorter.
    if (length > MAX_KEPT_BYTES || length !== (json.length * 3) / 4 - padding) return undefined
    return new Uint8Array(buffer, byteOffset, length)
  },
}

/** Returns the base64 text of bytes. */
export function base64Of(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('base64')
}

/** Returns the same bytes, not copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes // a second view costs a tenth of reading an entry
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** A value of another type, or null. */
export function nullable<T>(of: ValueType<T>): ValueType<T | null> {
  return { of, read: (json) => (json === null ? null : of.read(json)) }
}

/** The types of the fields of `T`. */
export type FieldTypes<T> = { readonly [K in keyof T]-?: ValueType<T[K]> }

/** An object with exactly these fields. */
export function object<T extends object>(types: FieldTypes<T>): ValueType<T> {
  const readFields = fieldReader<T>(types)
  return { read: (json) => (isJsonObject(json) ? readFields(json) : undefined) }
}

/** An object of JSON. */
export type JsonObject = { readonly [name: string]: unknown }

/** Whether a value of JSON is an object, not an array or null. */
export const isJsonObject = (json: unknown): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/**
 * Returns a function that reads the fields of an object. It returns undefined if a field is missing
 * or of another type, or if the object has more fields than these and `others`, which the caller
 * reads. `constants` are added to the result. The returned function accepts `more` other fields.
 */
export function fieldReader<T extends object>(
  types: FieldTypes<T>,
  others = 0,
  constants: Readonly<Record<string, unknown>> = {},
): (json: JsonObject, more?: number) => T | undefined {
  const fields = Object.entries<AnyValueType>(types).map(([name, { read }]) => ({ name, read }))
  const expected = fields.length + others
  // A copy of an object with every field is faster than adding the fields one by one.
  const empty = { ...constants, ...Object.fromEntries(fields.map(({ name }) => [name, null])) }
  return (json, more = 0) => {
    let found = 0
    for (const _ in json) found += 1 // without the array that `Object.keys` makes
    if (found !== expected + more) return undefined
    const result: Record<string, unknown> = { ...empty }
    for (const { name, read } of fields) {
      const value = read(json[name])
      if (value === undefined) return undefined
      result[name] = value
    }
    return result as T // every field was read by its type
  }
}
