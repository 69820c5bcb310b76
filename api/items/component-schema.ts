import { z } from 'zod'

/**
 * Returns the schema of an object without other members. The documents list it under `id` among
 * their component schemas.
 */
export function componentSchema<const Shape extends z.core.$ZodLooseShape>(
  id: string,
  description: string,
  shape: Shape,
) {
  return z.strictObject(shape).meta({ id, description })
}
