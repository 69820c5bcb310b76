import { createResources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'

/** Returns the resources for their schemas only. Their handlers must not be called. */
export function declaredResources(): readonly Resource[] {
  const position = { beforeMove: () => {} }
  return createResources({ position } as unknown as Parameters<typeof createResources>[0])
}
