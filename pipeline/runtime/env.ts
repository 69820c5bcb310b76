import { z } from 'zod'
import { ServiceError } from '../domain/service-error.ts'

/** Readers of environment variables. Each says what it expects and gives an example; none repeats the value, which may be a secret. */
type EnvType<T> = z.ZodType<T, string>

/** Text that `read` can turn into a value; `read` gives undefined for what it does not accept. */
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

export function envInteger(min: number, max: number, example: number): EnvType<number> {
  return envText(`an integer from ${min} to ${max}`, String(example), (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })
}

/** A URL of one of the given schemes (`http`, `redis`, ...). */
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

export function envChoice<const T extends string>(choices: readonly T[], example: T): EnvType<T> {
  return envText(`one of ${choices.join(', ')}`, example, (text) =>
    choices.find((choice) => choice === text),
  )
}

export function envBoolean(): EnvType<boolean> {
  return envText('true or false', 'true', (text) =>
    text === 'true' ? true : text === 'false' ? false : undefined,
  )
}

/** Comma-separated items, at least one, each accepted by `item`. */
export function envList<T>(
  expected: string,
  example: string,
  item: (text: string) => T | undefined,
): EnvType<readonly T[]> {
  return envText(expected, example, (text) => {
    const items = text.split(',').map((part) => item(part.trim()))
    return items.includes(undefined) ? undefined : (items as T[]) // no undefined is left
  })
}

/** Any text that is not empty. */
export function envString(): EnvType<string> {
  return z.string()
}

/** What an object of readers gives: a value for each key with a default, else perhaps undefined. */
export type EnvOf<Keys extends z.core.$ZodLooseShape> = z.output<z.ZodObject<Keys>>

/**
 * Reads every key of `keys` from `env`; an empty value counts as unset. Throws one ServiceError `bad_config` that names every bad key and what
 * was expected of it; `check` adds what only several keys together show, as `KEY: message` lines.
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
