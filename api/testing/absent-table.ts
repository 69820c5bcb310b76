import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** A store, and a switch that makes one of its tables unavailable. */
export interface StoreWithSwitch {
  readonly store: Store
  isAway: boolean
}

/** Returns `store`; while `isAway`, queries and inserts of `table` reject with `unavailable`. */
export function withSwitch(store: Store, table: string): StoreWithSwitch {
  const require = (text: string) => {
    if (switched.isAway && text.includes(table)) throw new ServiceError('unavailable', 'away')
  }
  const switched: StoreWithSwitch = {
    isAway: false,
    store: {
      ...store,
      async query<T>(sql: string, ...rest: QueryRest) {
        require(sql)
        return store.query<T>(sql, ...rest)
      },
      async insert(name, ...rest) {
        require(name)
        return store.insert(name, ...rest)
      },
    },
  }
  return switched
}

type QueryRest = Parameters<Store['query']> extends [string, ...infer Rest] ? Rest : never
