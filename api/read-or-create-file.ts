import { randomUUID } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../pipeline/runtime/make-folder.ts'

/**
 * Returns the text of a file, and creates the file first if it does not exist, readable by its
 * owner only. The file is complete or absent, even after a crash. If several processes start at
 * once, one creates the file and all return the same text.
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
    // Unlike `rename`, `link` does not replace a file that another process has created.
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
