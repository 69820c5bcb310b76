import { readdirSync } from 'node:fs'
import { parse } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A drill: exported by the file of its name. */
export interface Drill {
  /** Prints what was measured to stdout. Returns whether what the drill checks held. */
  run(args: readonly string[]): Promise<boolean>
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.js') && !file.includes('.test.') && file !== 'main.js')
  .map((file) => parse(file).name)

const [name = '', ...args] = process.argv.slice(2)
if (!names.includes(name)) {
  process.stderr.write(
    `usage: npm run drill -- NAME [options], with NAME one of ${names.join(', ')}\n`,
  )
  process.exit(2)
}
const drill: Drill = await import(pathToFileURL(`${import.meta.dirname}/${name}.js`).href)
if (!(await drill.run(args))) process.exitCode = 1
