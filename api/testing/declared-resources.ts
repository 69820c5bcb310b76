import { createResources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'

/**
 * The resources as declared, for what their schemas say: nothing may be asked of what they read
 * from.
 */
export function declaredResources(): readonly Resource[] {
  const position = { beforeMove: () => {} }
  return createResources({ position } as unknown as Parameters<typeof createResources>[0])
}
