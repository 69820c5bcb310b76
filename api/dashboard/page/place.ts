/** Where in the dashboard somebody is: the part of the address behind `#`. */
export interface Place {
  /** `/wallets/W1`; `/` without any. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Reads what stands behind `#`; what is no place is the start. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  return { path: path.startsWith('/') ? path : '/', query: new URLSearchParams(query) }
}

/** The parameters of a path by a pattern such as `/wallets/:alias`; null where it does not fit. */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? ''
    if (part.startsWith(':') && text !== '') params[part.slice(1)] = decoded(text)
    else if (part !== text) return null
  }
  return params
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
