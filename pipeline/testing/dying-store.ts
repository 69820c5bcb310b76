import { ServiceError } from '../domain/service-error.ts'
import type { Store } from '../store/store.ts'

/**
 * Returns the store of a process that dies before its `n`-th write. Writes that it sent before may
 * still be carried out. `death` resolves then; `writes` names each write, the fatal one included.
 */
export function dyingStore(
  store: Store,
  n: number,
): { store: Store; death: Promise<void>; writes: readonly string[] } {
  const writes: string[] = []
  let die: () => void = () => {}
  const death = new Promise<void>((resolve) => {
    die = resolve
  })
  const alive = () => {
    if (writes.length >= n) throw new ServiceError('closed', 'killed')
  }
  const write = (what: string) => {
    alive()
    writes.push(what)
    if (writes.length === n) die()
    alive()
  }
  return {
    death,
    writes,
    store: {
      ...store,
      async query(sql, params) {
        alive()
        return store.query(sql, params)
      },
      async insert(table, rows, options) {
        if (rows.length === 0) return
        write(table)
        await store.insert(table, rows, options)
      },
      async command(sql, params) {
        write(sql.slice(0, sql.indexOf('(')))
        await store.command(sql, params)
      },
    },
  }
}
