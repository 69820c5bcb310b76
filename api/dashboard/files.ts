import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Something that browsers load by its path, the same for as long as the service runs. */
export interface StaticFile {
  readonly path: string
  readonly type: string
  read(): Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'

const { resolve: resolved } = createRequire(import.meta.url)

/** The browser's own code, as the build leaves it beside this file. */
const BUILT = join(import.meta.dirname, 'page')

/** Loaded with the simulator alone (`shell.ts`). */
export const TEST_WALLET = 'test-wallet.js'

/**
 * The modules of the page, under `/dashboard/page/`. The list is made once, at the start, of what is there: a path of a request is looked up in it and never in the file system.
 */
export function pageModules(folder = BUILT): readonly StaticFile[] {
  return modulesIn(folder)
    .filter((name) => !isTestWallet(name))
    .map((name) => ({
      path: `/dashboard/page/${name}`,
      type: SCRIPT,
      read: fromDisk(folder, name),
    }))
}

/** The wallet of the simulator's customers: `test-wallet.js`, and the modules beside it whose names begin like that. */
export function testWallet(folder = BUILT): readonly StaticFile[] {
  return modulesIn(folder)
    .filter(isTestWallet)
    .map((name) => ({ path: `/dashboard/${name}`, type: SCRIPT, read: fromDisk(folder, name) }))
}

function modulesIn(folder: string): string[] {
  if (!existsSync(folder)) return [] // the API alone was built
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.js') && !name.includes('.test.'))
    .sort()
}

/** Packages that the page's modules import, by the name they import them by: their ES modules, served as they are published. */
export const LIBRARIES: readonly (StaticFile & { readonly specifier: string })[] = [
  library('preact', 'preact.js', () => resolved('preact')),
  library('preact/hooks', 'preact-hooks.js', () => resolved('preact/hooks')),
  library('preact/jsx-runtime', 'preact-jsx-runtime.js', () => resolved('preact/jsx-runtime')),
  library('uplot', 'uplot.js', () => resolved('uplot/dist/uPlot.esm.js')),
  library('qr', 'qr.js', () => resolved('qr')),
  // Its index says no more than that everything is in this file.
  library('@wallet-standard/app', 'wallet-standard.js', () =>
    join(resolved('@wallet-standard/app'), '../../esm/wallets.js'),
  ),
]

/** What charts look like; a page with a chart is styled by it. */
export const CHART_STYLE: StaticFile = {
  path: '/dashboard/lib/uplot.css',
  type: 'text/css; charset=utf-8',
  read: () => readFileSync(resolved('uplot/dist/uPlot.min.css')),
}

/** What tells browsers where those packages are. */
export const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries(LIBRARIES.map(({ specifier, path }) => [specifier, path])),
})

/**
 * The modules that `entry` needs before it runs, itself first: what it imports statically, and what those do. By the text of compiled modules, in which
 * an import stands at the start of a line, or of a minified package.
 */
export function staticImports(entry: string, files: readonly StaticFile[]): readonly StaticFile[] {
  const found = new Map<string, StaticFile>()
  const visit = (path: string) => {
    const file = files.find((one) => one.path === path)
    if (file === undefined || found.has(path)) return
    found.set(path, file)
    for (const [, specifier = ''] of file.read().toString().matchAll(STATIC_IMPORT)) {
      const packaged = LIBRARIES.find((one) => one.specifier === specifier)?.path
      if (packaged !== undefined) visit(packaged)
      else if (/^\.\.?\//.test(specifier)) visit(new URL(specifier, `http://here${path}`).pathname)
    }
  }
  visit(entry)
  return [...found.values()]
}

const STATIC_IMPORT = /(?:^|;)(?:import|export)\b[^'"();]*['"]([^'"]+)['"]/gm

function isTestWallet(name: string): boolean {
  return name.startsWith('test-wallet')
}

function library(specifier: string, name: string, file: () => string) {
  return {
    specifier,
    path: `/dashboard/lib/${name}`,
    type: SCRIPT,
    read: () => readFileSync(file()),
  }
}

function fromDisk(folder: string, name: string): () => Buffer {
  return () => readFileSync(join(folder, name))
}
