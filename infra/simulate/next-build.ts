import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FORMAT_VERSION } from '../../pipeline/domain/log-format.ts'
import { ROOT } from '../whole-service/service-process.ts'

/** The schema file of the next build. */
export const NEXT_SCHEMA = '9000_next_build.sql'
/** The column that it adds to `swaps`. The decoder of the next build sets it to `NOTE`. */
export const NEXT_COLUMN = 'next_note'
export const NOTE = 7
/** The format of log entries that the next build adds. */
export const NEXT_FORMAT = FORMAT_VERSION + 1

const SCHEMA = `-- compatible: adds a column that may be unknown, and a table
ALTER TABLE swaps ADD COLUMN IF NOT EXISTS ${NEXT_COLUMN} Nullable(UInt64);
CREATE TABLE IF NOT EXISTS next_table (n UInt8) ENGINE = MergeTree ORDER BY n;
`

/** A version of the service that could follow this one. */
export interface NextBuild {
  /** Its folder, with `dist` and `sql`. */
  readonly root: string
  remove(): void
}

/**
 * Makes a build that differs from this one as a release may: a new decoder, which gives swaps a new
 * field; a format of log entries that has it; a column for it, and a table; another format of
 * snapshots. Throws if the code to change is not found.
 */
export function makeNextBuild(): NextBuild {
  const root = mkdtempSync(join(tmpdir(), 'next-build-'))
  const remove = () => rmSync(root, { recursive: true, force: true })
  try {
    for (const name of readdirSync(ROOT))
      if (name === 'dist' || name === 'sql')
        cpSync(join(ROOT, name), join(root, name), { recursive: true })
      else symlinkSync(join(ROOT, name), join(root, name))
    writeFileSync(join(root, 'sql', NEXT_SCHEMA), SCHEMA)
    for (const [file, ...changes] of CHANGES) change(join(root, 'dist/pipeline', file), changes)
    return { root, remove }
  } catch (error) {
    remove()
    throw error
  }
}

type Change = readonly [pattern: RegExp, by: (found: string) => string]

/** Raises the number at the end of a match by one. */
const raise = (text: string) => text.replace(/[0-9]+$/, (number) => String(Number(number) + 1))

const CHANGES: readonly (readonly [file: string, ...Change[]])[] = [
  ['domain/decoder-version.js', [/DECODER_VERSION = [0-9]+/, raise]],
  ['domain/log-format.js', [/FORMAT_VERSION = [0-9]+/, raise]],
  [
    'fold/snapshot.js',
    [
      /SNAPSHOT_FORMATS = \[[0-9]+/,
      (found) => `${found}, ${raise(found).slice(found.indexOf('[') + 1)}`,
    ],
    [/JSON\.stringify\(\[/, (found) => `${found}'next', `],
    [/JSON\.parse\(text\)/, (found) => `${found}.filter((part) => part !== 'next')`],
  ],
  [
    'records/record-types.js',
    [
      /solPriceUsdE9: field\(/,
      (found) =>
        `nextNote: field(t.nullable(t.u64), '${NEXT_COLUMN}', { since: ${NEXT_FORMAT} }), ${found}`,
    ],
  ],
  ['decode/wallet-events.js', [/solPriceUsdE9: null/, (found) => `nextNote: ${NOTE}n, ${found}`]],
]

function change(file: string, changes: readonly Change[]): void {
  let text = readFileSync(file, 'utf8')
  for (const [pattern, by] of changes) {
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) throw new Error(`${file} has no ${pattern}`)
    text = text.replace(found, () => by(found))
  }
  writeFileSync(file, text)
}
