import { PassThrough } from 'node:stream'
import test from 'ava'
import { askFirst } from './ask-first.ts'

/** Asks while someone types this: what was shown, and whether to go on. */
async function asked(typed: string, isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const stderr = Object.assign(new PassThrough(), { isTTY })
  let shown = ''
  stderr.on('data', (text) => {
    shown += text
  })
  stdin.end(typed)
  const goesOn = await askFirst({ stdin, stderr }, async () => ({ document: { plan: 'trial' } }))
  return { shown, goesOn }
}

test('on a terminal what would be done is shown, and only yes goes on (rule J3)', async (t) => {
  const shown = '{\n  "plan": "trial"\n}\nThis cannot be undone. Go on? [y/N] '
  for (const typed of ['y\n', 'YES\n']) t.deepEqual(await asked(typed), { shown, goesOn: true })
  for (const typed of ['n\n', '\n', 'yellow\n', ''])
    t.deepEqual(await asked(typed), { shown, goesOn: false })
})

test('a program is not asked', async (t) => {
  t.deepEqual(await asked('', false), { shown: '', goesOn: true })
})
