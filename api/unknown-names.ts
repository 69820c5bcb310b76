/**
 * Returns the names that are not in `known`, each once, sorted: at most ten, and only names of
 * letters, digits, `_`, `.` and `-` with at most 40 characters, so that an answer can quote them
 * (rules F2 and L2).
 */
export function unknownNames(names: Iterable<string>, known: ReadonlySet<string>): string[] {
  const unknown = new Set<string>()
  for (const name of names)
    if (!known.has(name) && /^[A-Za-z0-9_.-]{1,40}$/.test(name)) unknown.add(name)
  return [...unknown].sort().slice(0, 10)
}
