import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import type { Store } from '../../../pipeline/store/store.ts'

/** Runs `work` with a new folder, which is removed at the end. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs `work` with an empty embedded store that has its schema. */
export function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  return inFolder(async (path) => {
    const store = await createStore({ kind: 'chdb', path })
    try {
      await migrate(store)
      return await work(store)
    } finally {
      await store.close()
    }
  })
}
