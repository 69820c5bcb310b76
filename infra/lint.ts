import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Checks of the source for which Biome has no rule. `node dist/infra/lint.js names spreads lines`
 * runs those that its arguments name, and exits with 1 if they find something.
 */
const CHECKS: Readonly<Record<string, (lines: readonly Line[]) => readonly string[]>> = {
  names: findSharedNames,
  spreads: findLiteralSpreads,
  lines: findLongLines,
}

/** A line of a file in the repository. `location` is `path:number`. */
interface Line {
  readonly path: string
  readonly location: string
  readonly text: string
}

/** Names that several rooms may export, each with its reason. */
const ALLOWED_NAMES: Readonly<Record<string, string>> = {
  run: 'what the main.ts of benches and of drills calls',
  encodeBase58: 'one function written twice: browsers get no modules of the server',
}

/** A module whose names say what they are only after a prefix, as in `t.address`. */
const NAMESPACE = 'pipeline/records/value-types.ts'

const TYPESCRIPT = /\.tsx?$/
const EXPORT =
  /^export (?:async |abstract |declare )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/

/**
 * Finds names that several rooms export, because two different things never share a name. A room is
 * a folder. Within a room, modules of one interface share names, such as `run` of each benchmark.
 */
function findSharedNames(lines: readonly Line[]): string[] {
  const locationsByName = new Map<string, Map<string, string>>()
  for (const { path, location, text } of lines) {
    if (!TYPESCRIPT.test(path) || path === NAMESPACE) continue
    const name = EXPORT.exec(text)?.[1]
    if (name === undefined || name in ALLOWED_NAMES) continue
    const locations = locationsByName.get(name) ?? new Map<string, string>()
    locationsByName.set(name, locations.set(dirname(path), location))
  }
  return [...locationsByName]
    .filter(([, locations]) => locations.size > 1)
    .map(
      ([name, locations]) => `${[...locations.values()].join(', ')}: several rooms export ${name}`,
    )
}

/** Finds spreads of an object literal, which only keep its fields on one line. */
function findLiteralSpreads(lines: readonly Line[]): string[] {
  return lines
    .filter(({ path, text }) => TYPESCRIPT.test(path) && /\.{3}\s*\{/.test(text))
    .map(({ location }) => `${location}: write out the fields of the object that is spread`)
}

const COLUMNS = 100
const GENERATED = 'docs/configuration.md'
/** Patterns of lines with prose: comments, and all of Markdown except tables. */
const PROSE: readonly (readonly [file: RegExp, line: RegExp])[] = [
  [TYPESCRIPT, /^\s*(?:\/?\*|\{\/\*)|(?:^|\s)\/\/ /],
  [/\.sql$/, /(?:^|\s)-- /],
  [/\.(?:sh|yml)$/, /(?:^|\s)# /],
  [/\.md$/, /^\s*[^|\s]/],
]

/**
 * Finds lines of prose that are too long. Addresses do not count, because they cannot be wrapped.
 */
function findLongLines(lines: readonly Line[]): string[] {
  return lines
    .filter(({ path, text }) => {
      if (text.length <= COLUMNS || path === GENERATED) return false
      if (!PROSE.some(([file, line]) => file.test(path) && line.test(text))) return false
      return [...text.replace(/\]\([^)]*\)|https?:\/\/\S+/g, '')].length > COLUMNS
    })
    .map(({ location }) => `${location}: a line of prose beyond ${COLUMNS} columns`)
}

function main(names: readonly string[]): void {
  const paths = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'])
    .toString()
    .split('\0')
    .filter((path) => /\.(?:tsx?|sql|md|sh|yml)$/.test(path) && existsSync(path))
  const lines = paths.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map((text, index) => ({ path, location: `${path}:${index + 1}`, text })),
  )
  const found = names.flatMap((name) => CHECKS[name]!(lines)) // an unknown name throws
  process.stdout.write(found.map((line) => `${line}\n`).join(''))
  if (found.length > 0) process.exitCode = 1
}

main(process.argv.slice(2))
