import { execFileSync } from 'node:child_process'

/** The disk that a folder takes, in KiB. */
export function diskKiB(folder: string): number {
  // Files may vanish while they are counted.
  const output = execFileSync('sh', ['-c', 'du -sk "$1" 2>/dev/null || true', 'sh', folder])
  return Number.parseInt(output.toString(), 10)
}
