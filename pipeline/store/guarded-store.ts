import { ServiceError } from '../domain/service-error.ts'
import { createFencedStore } from './fenced-store.ts'
import type { Store } from './store.ts'

/**
 * Creates a store that refuses writes with `unavailable` while `checkSchema` rejects: what this
 * version would write may be wrong in a schema that it does not know (rule K19). Reads go on.
 */
export function createGuardedStore(store: Store, checkSchema: () => Promise<void>): Store {
  return createFencedStore(store, () =>
    checkSchema().catch((cause: Error) => {
      throw new ServiceError('unavailable', cause.message, { cause })
    }),
  )
}
