import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** The project's root, two folders above the compiled test. */
const ROOT = join(import.meta.dirname, '../..')
const TEXT = /\.(?:tsx?|md|sql|py|sh|ya?ml|xml)$/

const ids = new Set(
  [...readFileSync(join(ROOT, 'docs/rules.md'), 'utf8').matchAll(/^### ([A-M]\d+[a-z]?)\. /gm)].map(
    ([, id]) => id ?? '',
  ),
)

const files = ['api', 'docs', 'infra', 'pipeline', 'sql'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .map((file) => `${top}/${file}`)
    .filter((file) => TEXT.test(file)),
)

/** The ids after `rule` or `rules` in a text: `rules D2, F1` cites two. */
function citedIn(text: string): string[] {
  const lists = text.matchAll(
    /\brules? ((?:[A-M]\d+[a-z]?)(?:(?:, (?:and )?| and | to |-)[A-M]\d+[a-z]?)*)/gi,
  )
  return [...lists].flatMap(([, list = '']) => list.match(/[A-M]\d+[a-z]?/g) ?? [])
}

const cited = files.flatMap((file) =>
  citedIn(readFileSync(join(ROOT, file), 'utf8')).map((id) => ({ file, id })),
)

test('every rule that code or documents cite is in docs/rules.md', (t) => {
  t.true(ids.size > 90)
  t.true(cited.length > 500)
  t.deepEqual(
    cited.filter(({ id }) => !ids.has(id)),
    [],
  )
  // Titles of tests cite rules without the word, `C1: a swap is worth its lamports`, `(E5)`.
  const tests = files.filter((file) => /\.(?:test|contract)\.ts$/.test(file))
  const tested = new Set(
    tests.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(/\b[A-M]\d+[a-z]?\b/g)),
  )
  t.log(`no test cites: ${[...ids].filter((id) => !tested.has(id)).join(' ')}`)
})
