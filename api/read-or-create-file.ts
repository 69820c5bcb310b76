import { randomUUID } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../pipeline/runtime/make-folder.ts'

/**
 * The text of a file that is made at the first start and kept, for its owner's eyes alone. It is there whole or not at all, whenever the process ends; of several
 * processes that start at once one makes it, and all have the same.
 */
export async function readOrCreateFile(path: string, make: () => Promise<string>): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(unless('ENOENT'))
  if (kept !== undefined) return kept
  makeFolder(dirname(path))
  const own = `${path}.${randomUUID()}`
  const file = await open(own, 'wx', 0o600)
  try {
    await file.writeFile(await make())
    await file.sync()
    // Unlike a renaming, it leaves a file alone that is there by now.
    await link(own, path).catch(unless('EEXIST'))
  } finally {
    await file.close()
    await unlink(own)
  }
  return readFile(path, 'utf8')
}

const unless = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error
  return undefined
}
