import { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import { readVarint, writeVarint } from './varint.ts'

/**
 * Decodes a subscription. The native client leaves an empty filter (`{}`) out of its map entry, and
 * the package's decoder drops such an entry. This function restores the empty value before
 * decoding.
 */
export function decodeSubscribeRequest(message: Buffer): SubscribeRequest {
  const parts: Buffer[] = []
  let at = 0
  while (at < message.length) {
    const start = at
    const tag = readVarint(message, at)
    at = tag.end
    const wireType = tag.value & 7
    if (wireType !== 2) {
      at = wireType === 0 ? readVarint(message, at).end : at + (wireType === 1 ? 8 : 4)
      parts.push(message.subarray(start, at))
      continue
    }
    const length = readVarint(message, at)
    const body = message.subarray(length.end, length.end + length.value)
    at = length.end + length.value
    const lacksValue = FILTER_MAPS.has(tag.value >>> 3) && !hasField(body, 2)
    parts.push(
      lacksValue
        ? Buffer.concat([
            message.subarray(start, tag.end),
            writeVarint(body.length + 2),
            body,
            Buffer.of(0x12, 0),
          ])
        : message.subarray(start, at),
    )
  }
  return SubscribeRequest.decode(Buffer.concat(parts))
}

/**
 * Fields of `SubscribeRequest` that are maps of filters: accounts, slots, transactions, blocks,
 * blocks_meta, entry, transactions_status.
 */
const FILTER_MAPS = new Set([1, 2, 3, 4, 5, 8, 10])

/**
 * Whether a map entry has a length-delimited field; keys and values of these maps are such fields.
 */
function hasField(entry: Buffer, field: number): boolean {
  let at = 0
  while (at < entry.length) {
    const tag = readVarint(entry, at)
    const length = readVarint(entry, tag.end)
    if (tag.value >>> 3 === field) return true
    at = length.end + length.value
  }
  return false
}
