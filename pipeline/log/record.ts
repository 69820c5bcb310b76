import { DECODER_VERSION } from '../domain/decoder-version.ts'
import type { LogMessage } from './log-message.ts'
import { readEntry } from './read-entry.ts'

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

/**
 * Version of the format that is written. A change that older readers would misread raises it (rule
 * K3). Version 2 put `pool` into swaps; entries of version 1 are read as well.
 */
export const FORMAT_VERSION = 2

/**
 * The JSON text of an entry, versioned, integers of 64 bits and more as decimal strings, bytes in base64. `decodeMessage` gives the same value back.
 *
 * Example: `{"v":2,"kind":"sol_transfer","slot":5,"txIndex":0,"wallet":12,"eventIndex":0,...,"lamports":"1000","late":null,"decoderVersion":1}`
 */
export function encodeMessage(message: LogMessage): string {
  if (message.kind === 'record' && message.record.kind === 'kept') {
    // Kilobytes of base64 need no look for what JSON would escape.
    const { bytes, ...record } = message.record
    const { decoderVersion = DECODER_VERSION, late } = message
    const rest = JSON.stringify({ v: FORMAT_VERSION, ...record, late, decoderVersion })
    return `${rest.slice(0, -1)},"bytes":"${base64Of(bytes)}"}`
  }
  return JSON.stringify(bodyOf(message), (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

function bodyOf(message: LogMessage): object {
  switch (message.kind) {
    case 'marker':
      return { v: FORMAT_VERSION, kind: 'marker', ...message.marker }
    case 'refold':
      return { v: FORMAT_VERSION, kind: 'refold', ...message.refold }
    case 'record': {
      const { record, late, decoderVersion = DECODER_VERSION } = message
      return { v: FORMAT_VERSION, ...record, late, decoderVersion }
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
  const message = readEntry(json)
  return message === null ? { kind: 'malformed', reason: 'wrong_shape' } : { kind: 'ok', message }
}

function versionOf(json: unknown): number | null {
  const version = typeof json === 'object' && json !== null && 'v' in json ? json.v : null
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 0
    ? version
    : null
}
