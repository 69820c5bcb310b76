// Lenient reads of untrusted JSON: what is missing or has another type reads as absent.

/** Whether a value is an object or an array. */
export function isObjectOrArray(
  value: unknown,
): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null
}

/** The value of a key of an object, or of an index of an array; undefined for other values. */
export function fieldOf(value: unknown, key: string | number): unknown {
  return isObjectOrArray(value) ? value[key] : undefined
}

/** The items of an array; none for other values. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
