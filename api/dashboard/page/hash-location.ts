/** A location within the dashboard: the part of the URL after `#`. */
export interface HashLocation {
  /** Such as `/wallets/W1`. `/` if the hash has no path. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Parses a URL hash such as `#/wallets?page=2`. A hash that is not a path gives the path `/`. */
export function parseHash(hash: string): HashLocation {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  return { path: path.startsWith('/') ? path : '/', query: new URLSearchParams(query) }
}

/** Returns the parameters of a path for a pattern such as `/wallets/:alias`, or null. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const patternParts = pattern.split('/')
  const pathParts = path.split('/')
  if (patternParts.length !== pathParts.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of patternParts.entries()) {
    const text = pathParts[index] ?? ''
    if (part.startsWith(':') && text !== '') params[part.slice(1)] = decode(text)
    else if (part !== text) return null
  }
  return params
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
