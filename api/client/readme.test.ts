import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'

/*
 * The README's programs, in a folder of a stranger that has this package.
 */

const ROOT = join(import.meta.dirname, '../../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'readme-'))
test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

const run = promisify(execFile)

test('the TypeScript program compiles strictly against the types of the package', async (t) => {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/tracked-wallets'))
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'example.ts'), program('ts'))
  // What a call gives has its fields, and no others.
  writeFileSync(
    join(folder, 'types.ts'),
    `import { TrackedWallets } from 'tracked-wallets/client'
    const { items } = await new TrackedWallets({ url: '', apiKey: '' }).trades()
    export const amount: number | undefined = items[0]?.sol_amount
    // @ts-expect-error
    export const nothing = items[0]?.nothing`,
  )
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
  const compile = run(process.execPath, [TSC, ...options, 'example.ts', 'types.ts'], {
    cwd: folder,
  })
  await t.notThrowsAsync(compile.catch(({ stdout }) => Promise.reject(new Error(stdout))))
})

/** The README's first block of a language. */
function program(language: string): string {
  const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(README)?.[1]
  if (code === undefined) throw new Error(`the README has no program in ${language}`)
  return code
}
