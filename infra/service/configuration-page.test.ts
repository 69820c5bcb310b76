import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { configurationPage } from './configuration-page.ts'

test('docs/configuration.md says what the schema of the environment says: npm run docs', (t) => {
  const file = join(import.meta.dirname, '../../../docs/configuration.md')
  t.is(readFileSync(file, 'utf8'), configurationPage())
})
