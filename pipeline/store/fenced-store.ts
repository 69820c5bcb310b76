import type { Store } from './store.ts'

/**
 * Creates a store whose writes wait for `confirm`, and reject as it does. A process that was
 * stopped or cut off so learns that somebody else owns its rows now before it sends another
 * statement. A statement that is under way is not stopped: rows need versions that order those of
 * two owners.
 */
export function createFencedStore(store: Store, confirm: () => Promise<void>): Store {
  return {
    ...store,
    async insert(table, rows, options) {
      await confirm()
      await store.insert(table, rows, options)
    },
    async command(sql, params) {
      await confirm()
      await store.command(sql, params)
    },
  }
}
