import { gunzipSync } from 'node:zlib'

/** Signatures of a list: one a line, what follows a blank or `#` is a remark. */
export function readSignatures(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/)[0] ?? '')
    .filter((signature) => signature !== '')
}

/** Those of `wanted` that a file of recorded transactions does not hold; `recorded` is its compressed bytes, null when there is none yet. */
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
  const json = JSON.parse(line) as { transaction?: { signatures?: string[] } } // written by `getTransaction`
  return json.transaction?.signatures?.[0]
}
