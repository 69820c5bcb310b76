import { parseArgs } from 'node:util'
import { print } from './figures.ts'

type Value<T> = T extends number ? number : T extends string ? string : boolean

/**
 * The options of a bench, by their defaults, and its other words. Null after `--help`, which prints
 * the usage. Throws if the value of a number is none.
 */
export function readOptions<D extends Readonly<Record<string, number | string | boolean>>>(
  args: readonly string[],
  usage: string,
  defaults: D,
): { readonly options: { [name in keyof D]: Value<D[name]> }; readonly words: string[] } | null {
  const known = Object.entries(defaults).map(([name, value]) => {
    const type = typeof value === 'boolean' ? ('boolean' as const) : ('string' as const)
    return [name, { type }] as const
  })
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...Object.fromEntries(known), help: { type: 'boolean' } },
  })
  if (values.help) {
    print(usage)
    return null
  }
  const read = Object.entries(defaults).map(([name, value]) => {
    const given = (values as Readonly<Record<string, unknown>>)[name] ?? value
    if (typeof value !== 'number') return [name, given]
    const number = Number(given === '' ? Number.NaN : given)
    if (Number.isNaN(number)) throw new Error(`--${name}: expected a number`)
    return [name, number]
  })
  return { options: Object.fromEntries(read), words: positionals } // of the types of the defaults
}
