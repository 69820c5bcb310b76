import type { Store } from '../store/store.ts'

/** A store that notes the wallets whose snapshot is read, in order. */
export function noteBooksRead(store: Store): { readonly noting: Store; readonly read: number[] } {
  const read: number[] = []
  const noting: Store = {
    ...store,
    query(sql, params, columns) {
      const { wallets } = params ?? {}
      if (sql.includes('state FROM fold_snapshots') && Array.isArray(wallets))
        read.push(...wallets.map(Number))
      return store.query(sql, params, columns)
    },
  }
  return { noting, read }
}
