import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and its missing ancestors, by default for their owner alone. Throws Node's error
 * for the folder that cannot be created. It does not use `mkdirSync` with `recursive`: in Node 20
 * that never returns for a folder such as `/proc/x`, where the system reports ENOENT although the
 * parent exists.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder)
  if (isFolder(path)) return
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST' && isFolder(path)) return // another process has just created it
    if (code !== 'ENOENT' || path === dirname(path) || isFolder(dirname(path))) throw error
    makeFolder(dirname(path), mode)
    makeFolder(path, mode)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
