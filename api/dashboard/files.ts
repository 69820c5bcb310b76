import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A file that browsers load. It does not change while the service runs. */
export interface StaticFile {
  readonly path: string
  readonly type: string
  read(): Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'

const { resolve: resolved } = createRequire(import.meta.url)

/** The compiled modules of the page. */
const COMPILED = join(import.meta.dirname, 'page')

/** The module of the test wallet. The document loads it only with the simulator. */
export const TEST_WALLET_MODULE = 'test-wallet.js'

/**
 * Returns the modules of the page, under `/dashboard/page/`. The list is read once at the start.
 * The path of a request is looked up in it, never in the file system.
 */
export function pageModules(folder = COMPILED): readonly StaticFile[] {
  return modulesIn(folder)
    .filter((name) => !isTestWallet(name))
    .map((name) => ({
      path: `/dashboard/page/${name}`,
      type: SCRIPT,
      read: fromDisk(folder, name),
    }))
}

/** Returns the modules of the simulator's test wallet: `test-wallet*.js`. */
export function testWalletModules(folder = COMPILED): readonly StaticFile[] {
  return modulesIn(folder)
    .filter(isTestWallet)
    .map((name) => ({ path: `/dashboard/${name}`, type: SCRIPT, read: fromDisk(folder, name) }))
}

function modulesIn(folder: string): string[] {
  if (!existsSync(folder)) return [] // The page was not built.
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.js') && !name.includes('.test.'))
    .sort()
}

/** The packages that the page imports. Their ES modules are served as published. */
export const LIBRARIES: readonly (StaticFile & { readonly specifier: string })[] = [
  library('preact', 'preact.js', () => resolved('preact')),
  library('preact/hooks', 'preact-hooks.js', () => resolved('preact/hooks')),
  library('preact/jsx-runtime', 'preact-jsx-runtime.js', () => resolved('preact/jsx-runtime')),
  library('uplot', 'uplot.js', () => resolved('uplot/dist/uPlot.esm.js')),
  library('qr', 'qr.js', () => resolved('qr')),
  // The index of the package only re-exports this file.
  library('@wallet-standard/app', 'wallet-standard.js', () =>
    join(resolved('@wallet-standard/app'), '../../esm/wallets.js'),
  ),
]

/** The stylesheet of the chart library. */
export const CHART_STYLE: StaticFile = {
  path: '/dashboard/lib/uplot.css',
  type: 'text/css; charset=utf-8',
  read: () => readFileSync(resolved('uplot/dist/uPlot.min.css')),
}

/** The import map: the paths of the packages, as JSON. */
export const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries(LIBRARIES.map(({ specifier, path }) => [specifier, path])),
})

/**
 * Returns `entry` and all modules that it imports statically, directly or through others, `entry`
 * first. It searches the compiled text, where an import is at the start of a line or after a `;`.
 */
export function staticImports(entry: string, files: readonly StaticFile[]): readonly StaticFile[] {
  const found = new Map<string, StaticFile>()
  const visit = (path: string) => {
    const file = files.find((one) => one.path === path)
    if (file === undefined || found.has(path)) return
    found.set(path, file)
    for (const [, specifier = ''] of file.read().toString().matchAll(STATIC_IMPORT)) {
      const packagePath = LIBRARIES.find((one) => one.specifier === specifier)?.path
      if (packagePath !== undefined) visit(packagePath)
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
