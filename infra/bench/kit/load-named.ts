import { readdirSync } from 'node:fs'
import { parse } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Loads the module of a folder that the first argument of this process names, `NAME.js`. Returns it
 * with the other arguments. Without such a module it prints the names and exits with 2. `script` is
 * the npm script of the folder; `main.js` and tests have no name.
 */
export async function loadNamed<Module>(folder: string, script: string) {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.js') && !file.includes('.test.') && file !== 'main.js')
    .map((file) => parse(file).name)
  const [name = '', ...args] = process.argv.slice(2)
  if (!names.includes(name)) {
    const list = names.join(', ')
    process.stderr.write(`usage: npm run ${script} -- NAME [options], with NAME one of ${list}\n`)
    process.exit(2)
  }
  const module: Module = await import(pathToFileURL(`${folder}/${name}.js`).href)
  return { module, args }
}
