import { type Atom, createAtom } from './atom.ts'

/**
 * Creates an atom whose value survives a reload, in the browser's local storage. It is for choices
 * of the customer, never for a token, a key or the address of a wallet. `parse` returns null for
 * text that is not such a value; then, and without storage, the atom begins with `initial`.
 */
export function createStoredAtom<Value>(
  name: string,
  initial: Value,
  parse: (stored: unknown) => Value | null,
): Atom<Value> {
  const atom = createAtom(read(name, parse) ?? initial)
  return {
    ...atom,
    set(value) {
      atom.set(value)
      write(name, value)
    },
  }
}

function read<Value>(name: string, parse: (stored: unknown) => Value | null): Value | null {
  try {
    return parse(JSON.parse(localStorage.getItem(name) ?? 'null'))
  } catch {
    return null // No storage, or a value that is not JSON.
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value))
  } catch {
    // Without storage, or when it is full, the choice lasts until the page is closed.
  }
}
