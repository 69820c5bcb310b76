import { z } from 'zod'
import { ServiceError } from '../domain/service-error.ts'

/**
 * A reader of one environment variable. Its error says what it expects and gives an example. It
 * never repeats the value, which may be a secret.
 */
type EnvType<T> = z.ZodType<T, string>

/**
 * A reader of text that `read` turns into a value. `read` returns undefined for text that it
 * refuses. `expected` and `example` complete "expected ..., for example ..." in the error.
 */
export function envText<T>(
  expected: string,
  example: string,
  read: (text: string) => T | undefined,
): EnvType<T> {
  return z
    .string()
    .transform((text, context) => {
      const value = read(text)
      if (value !== undefined) return value
      context.addIssue({ code: 'custom', message: `expected ${expected}, for example ${example}` })
      return z.NEVER
    })
    .meta({ description: expected })
}

/** A reader of an integer within bounds, both included. */
export function envInteger(min: number, max: number, example: number): EnvType<number> {
  return envText(`an integer from ${min} to ${max}`, String(example), (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })
}

/** A reader of a URL with one of the given schemes (`http`, `redis`, ...). */
export function envUrl(schemes: readonly string[], example: string): EnvType<URL> {
  return envText(
    `a URL starting with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    example,
    (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      return url && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== ''
        ? url
        : undefined
    },
  )
}

/**
 * A reader of the URL of several servers with one user and one path,
 * `http://user:password@host1:8123,host2:8123/database`. Returns one URL a server, in order.
 */
export function envUrls(schemes: readonly string[], example: string): EnvType<readonly URL[]> {
  return envText(
    `a URL starting with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    example,
    (text) => {
      const [, scheme = '', user = '', hosts = '', path = ''] =
        /^([a-z]+):\/\/([^/?#]*@)?([^@/?#]+)([/?#].*)?$/i.exec(text) ?? []
      if (!schemes.includes(scheme.toLowerCase())) return undefined
      const urls = hosts.split(',').map((host) => `${scheme}://${user}${host.trim()}${path}`)
      return urls.every((url) => URL.canParse(url) && new URL(url).hostname !== '')
        ? urls.map((url) => new URL(url))
        : undefined
    },
  )
}

/** A reader of one of the given words. */
export function envChoice<const T extends string>(choices: readonly T[], example: T): EnvType<T> {
  return envText(`one of ${choices.join(', ')}`, example, (text) =>
    choices.find((choice) => choice === text),
  )
}

/** A reader of `true` or `false`. */
export function envBoolean(): EnvType<boolean> {
  return envText('true or false', 'true', (text) =>
    text === 'true' ? true : text === 'false' ? false : undefined,
  )
}

/**
 * A reader of comma-separated items, at least one. `item` reads each, and returns undefined for
 * text that it refuses.
 */
export function envList<T>(
  expected: string,
  example: string,
  item: (text: string) => T | undefined,
): EnvType<readonly T[]> {
  return envText(expected, example, (text) => {
    const items = text.split(',').map((part) => item(part.trim()))
    return items.includes(undefined) ? undefined : (items as T[]) // checked: none is undefined
  })
}

/** A reader of any text that is not empty. */
export function envString(): EnvType<string> {
  return z.string()
}

/** The values that an object of readers returns; undefined for an unset key without a default. */
export type EnvOf<Keys extends z.core.$ZodLooseShape> = z.output<z.ZodObject<Keys>>

/**
 * Reads every key of `keys` from `env`. An empty value counts as unset. Throws one ServiceError
 * `bad_config` that names every bad key and what was expected of it. `check` returns the faults of
 * several keys together, as `KEY: message`; it runs only when every key is good.
 */
export function readEnv<Keys extends z.core.$ZodLooseShape>(
  keys: Keys,
  env: Readonly<Record<string, string | undefined>>,
  check: (values: EnvOf<Keys>) => readonly string[] = () => [],
): EnvOf<Keys> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = z.object(keys).safeParse(set)
  const faults = parsed.success
    ? check(parsed.data)
    : parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`)
  if (parsed.success && faults.length === 0) return parsed.data
  throw new ServiceError(
    'bad_config',
    `bad configuration:\n${faults.map((f) => `  ${f}`).join('\n')}`,
  )
}
