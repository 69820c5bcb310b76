/** A number as Protobuf's variable-length integer. */
export function writeVarint(value: number): Buffer {
  const out: number[] = []
  let rest = value
  while (rest >= 0x80) {
    out.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  out.push(rest)
  return Buffer.from(out)
}

/** The variable-length integer at `start`, and the position after it. */
export function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0
  let scale = 1
  let at = start
  for (;;) {
    const byte = bytes[at] ?? 0
    at += 1
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, end: at }
    scale *= 128
  }
}
