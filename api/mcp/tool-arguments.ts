import { ApiError, type ParameterError } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import type { Arguments } from './tool.ts'

/** The request of a resource that a tool call stands for. */
export interface ResourceRequest {
  /** Path and query. */
  readonly url: string
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * Turns the arguments of a tool call into a request of its resource, whose schemas then validate
 * them. Numbers become digits, null is an argument left out. Throws `invalid_parameter` for names
 * that the tool does not have, lists and objects, and missing path parameters.
 */
export function requestOf(
  { path, params, query }: Pick<Resource, 'path' | 'params' | 'query'>,
  given: Arguments,
): ResourceRequest {
  const inPath = new Set(Object.keys(params.shape))
  const texts = readArguments(given, [...inPath, ...Object.keys(query.shape)])
  const missing = [...inPath].filter((name) => !texts.has(name))
  if (missing.length > 0)
    throw new ApiError('invalid_parameter', {
      errors: missing.map((name) => ({ in: 'path', name, message: 'expected a value' })),
    })
  const search = new URLSearchParams([...texts].filter(([name]) => !inPath.has(name))).toString()
  const filled = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(texts.get(name) ?? ''))
  return {
    url: search === '' ? filled : `${filled}?${search}`,
    params: Object.fromEntries([...texts].filter(([name]) => inPath.has(name))),
  }
}

/** Returns the arguments as text, by name. Throws `invalid_parameter` that names each fault. */
function readArguments(given: Arguments, names: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>()
  const errors: ParameterError[] = []
  for (const [name, value] of Object.entries(given).slice(0, MOST_ARGUMENTS)) {
    if (!names.includes(name)) errors.push(unknownArgument(name, names))
    else if (typeof value === 'object' && value !== null)
      errors.push({ in: 'query', name, message: 'expected one value' })
    // A URL has no lone surrogates.
    else if (value !== null) texts.set(name, Buffer.from(String(value)).toString())
  }
  if (errors.length > 0) throw new ApiError('invalid_parameter', { errors })
  return texts
}

/** The fault of an argument that a tool does not have. The name is repeated only if it is short. */
export function unknownArgument(name: string, names: readonly string[]): ParameterError {
  const known = names.length === 0 ? 'none' : names.map((one) => `\`${one}\``).join(', ')
  return {
    in: 'query',
    name: /^[\w.-]{1,40}$/.test(name) ? name : '',
    message: `this tool has no such argument; it has ${known}`,
  }
}

/** No tool has as many. */
const MOST_ARGUMENTS = 100
