import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those it lies in, as far as they are missing, for their owner alone by
 * default. Throws Node's error of the folder that cannot be made. It goes up step by step:
 * `mkdirSync` with `recursive` never returns where the system says that a folder is missing in an
 * existing one (`/proc/x`, Node 20).
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder)
  if (isFolder(path)) return
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST' && isFolder(path)) return // made by another process just now
    if (code !== 'ENOENT' || path === dirname(path) || isFolder(dirname(path))) throw error
    makeFolder(dirname(path), mode)
    makeFolder(path, mode)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
