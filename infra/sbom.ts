import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

const ROOT = resolve(import.meta.dirname, '../..')

const Lock = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      peerDependencies: z.record(z.string(), z.string()).optional(),
      peerDependenciesMeta: z.record(z.string(), z.looseObject({})).optional(),
    }),
  ),
})

const Sbom = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.looseObject({ purl: z.string() })),
})

/**
 * Makes the CycloneDX document of the production packages with `npm sbom`. `missing` has the
 * package URLs that the lock file has for production and the document lacks; it should be empty.
 *
 * The document is made from a copy of the project without `devDependencies`. For the project itself
 * `npm sbom --omit dev` (npm 11.19) omits half of the packages, among them `ws` and
 * `@solana/web3.js`. Without `--omit` npm refuses the tree, because an unused optional peer
 * dependency has another version.
 */
export function makeSbom(): { readonly text: string; readonly missing: readonly string[] } {
  const copy = mkdtempSync(join(tmpdir(), 'sbom-'))
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(ROOT, file), join(copy, file))
    const npm = (...args: string[]) =>
      execFileSync('npm', args, { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    npm('pkg', 'delete', 'devDependencies')
    npm('install', '--package-lock-only', '--ignore-scripts', '--offline')
    withoutOptionalPeers(join(copy, 'package-lock.json'))
    const text = npm('sbom', '--sbom-format', 'cyclonedx', '--package-lock-only')
    const listed = new Set(Sbom.parse(JSON.parse(text)).components.map(({ purl }) => purl))
    return { text, missing: productionPurls().filter((purl) => !listed.has(purl)) }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Removes optional peer dependencies from a lock file. */
function withoutOptionalPeers(file: string): void {
  const lock = Lock.parse(JSON.parse(readFileSync(file, 'utf8')))
  for (const { peerDependencies, peerDependenciesMeta = {} } of Object.values(lock.packages))
    for (const name of Object.keys(peerDependenciesMeta)) delete peerDependencies?.[name]
  writeFileSync(file, JSON.stringify(lock))
}

/** Package URLs of all production packages in the lock file, also those of other platforms. */
function productionPurls(): readonly string[] {
  const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const production = Object.entries(Lock.parse(JSON.parse(text)).packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
  )
  const purls = production.map(([path, { version }]) => {
    const name = path.replace(/^.*node_modules\//, '').replace('@', '%40')
    return `pkg:npm/${name}@${version}`
  })
  return [...new Set(purls)].sort()
}

/** `node dist/infra/sbom.js FILE`: writes the document, or fails and names missing packages. */
function main(file: string): void {
  const { text, missing } = makeSbom()
  if (missing.length > 0) {
    process.stderr.write(`the SBOM lacks ${missing.length} packages:\n${missing.join('\n')}\n`)
    process.exit(1)
  }
  writeFileSync(file, text)
  process.stdout.write(
    `${resolve(file)}: CycloneDX, ${productionPurls().length} packages of production, none missing\n`,
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv[2] ?? '')
