import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those it lies in, as far as they are missing. Throws Node's error of the folder that cannot be made. It goes up step by step, because Node's own
 * recursive way turns for ever where the system says that a folder is missing in one that is there (`/proc/x`, Node 20).
 */
export function makeFolder(folder: string, mode = 0o777): void {
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
