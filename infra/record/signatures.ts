import { gunzipSync } from 'node:zlib'

/** The signatures of a list: one a line; text after a blank or `#` is a comment. */
export function readSignatures(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/)[0] ?? '')
    .filter((signature) => signature !== '')
}

/**
 * The signatures of `wanted` that a recorded file lacks. `recorded` is the compressed file; null
 * when there is none yet.
 */
export function missingSignatures(
  wanted: readonly string[],
  recorded: Uint8Array | null,
): string[] {
  if (recorded === null) return [...wanted]
  const lines = gunzipSync(recorded).toString('utf8').split('\n')
  const there = new Set(lines.filter((line) => line !== '').map(signatureOf))
  return wanted.filter((signature) => !there.has(signature))
}

function signatureOf(line: string): string | undefined {
  // written by `getTransaction`
  const json = JSON.parse(line) as { transaction?: { signatures?: string[] } }
  return json.transaction?.signatures?.[0]
}
