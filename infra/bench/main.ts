import { readdirSync } from 'node:fs'
import { parse } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A bench: exported by the file of its name. Prints its table to stdout. */
export interface Bench {
  run(args: readonly string[]): Promise<void>
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.js') && !file.includes('.test.') && file !== 'main.js')
  .map((file) => parse(file).name)

const [name = '', ...args] = process.argv.slice(2)
if (!names.includes(name)) {
  process.stderr.write(
    `usage: npm run bench -- NAME [options], with NAME one of ${names.join(', ')}\n`,
  )
  process.exit(2)
}
const bench: Bench = await import(pathToFileURL(`${import.meta.dirname}/${name}.js`).href)
await bench.run(args)
