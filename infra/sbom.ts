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
 * The CycloneDX document of what production installs, by `npm sbom`, and the purls that the lock
 * file has for production and the document lacks: none, else npm left some out.
 *
 * It is made of a copy without `devDependencies`. Of the project itself, `npm sbom --omit dev`
 * (npm 11.19) leaves out half of the packages, `ws` and `@solana/web3.js` among them, and without
 * `--omit` it refuses the tree for an optional peer of another version, which is not used.
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

function withoutOptionalPeers(file: string): void {
  const lock = Lock.parse(JSON.parse(readFileSync(file, 'utf8')))
  for (const { peerDependencies, peerDependenciesMeta = {} } of Object.values(lock.packages))
    for (const name of Object.keys(peerDependenciesMeta)) delete peerDependencies?.[name]
  writeFileSync(file, JSON.stringify(lock))
}

/** Package URLs of every production package in the lock file, those of other platforms included. */
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

/** `node dist/infra/sbom.js FILE`: writes the document, or fails and names what it lacks. */
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
