import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'ava'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { openProgramNames } from '../service/program-labels.ts'
import { portableArgs } from './commands.ts'
import { labelsDiff } from './labels-diff.ts'
import type { OperatorParts } from './parts.ts'

const HADRON = 'HADRoNbLovyqhCsocfYQYB7QdfCAAinN9HTePvBCVDQ8'
const QUAY = 'QUayE6nexQWYNZAEqfN8FxoNwQDSu3CAzT2qq9J1ArG'
const PERPS = 'PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu'
const PUMPFUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const NEW = 'DNxgmeoEDXnuLhdJVXBt7S9J3gkJGQWwFNfEWGsGyvTA'

const folder = mkdtempSync(join(tmpdir(), 'labels-diff-'))
test.after.always(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Runs the command over the labels in `mine.csv`. */
async function diff(...args: string[]): Promise<unknown> {
  const labels = ['name,program_id,label', `hadron,${HADRON},`, `quay,${QUAY},`]
  const path = file('mine.csv', [...labels, `jupiter_perps,${PERPS},Perps`].join('\n'))
  const names = await openProgramNames(path)
  // The command uses no other part.
  const parts = { names } as OperatorParts
  return (await labelsDiff.run(args, parts, () => {})).document
}

test('a list with the same programs, spelt in another way, shows no difference', async (t) => {
  const same = { [HADRON]: 'HADRON', [QUAY]: 'Quay', [PERPS]: 'Perps', [PUMPFUN]: 'Pump.fun' }
  const path = file('same.json', JSON.stringify(same))
  const none = { labels: 3, listed: 4, new: [], gone: [], renamed: [] }
  t.deepEqual(await diff('--from', path), none)
  t.deepEqual(await diff('--from', path, '--json'), none)
  t.deepEqual(await diff('--json', `--from=${path}`), none)
})

test('programs that are new, gone or renamed are told; known venues and the token program are not new', async (t) => {
  const other = {
    [NEW]: 'Next CLMM (v2)',
    [PERPS]: 'Jupiter Perps',
    [HADRON]: 'Hadron X',
    [PUMPFUN]: 'Pump.fun',
    [TOKEN]: 'Token',
  }
  t.deepEqual(await diff('--from', file('other.json', JSON.stringify(other))), {
    labels: 3,
    listed: 5,
    new: [{ program_id: NEW, label: 'Next CLMM (v2)', name: 'next_clmm_v2' }],
    gone: [{ program_id: QUAY, name: 'quay' }],
    renamed: [{ program_id: HADRON, name: 'hadron', label: 'Hadron X' }],
  })
})

async function refusal(...args: string[]): Promise<string> {
  const error = await diff(...args).catch((reason: unknown) => reason)
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${args.join(' ')}`)
  return `${error.code}: ${error.message}`
}

test('a list that cannot be read, or is of another form, is refused with its faults', async (t) => {
  t.is(await refusal(), 'invalid_argument: --from: required')
  const absent = join(folder, 'absent.json')
  t.is(
    await refusal('--from', absent),
    `bad_config: --from: cannot read ${absent}: there is no such file`,
  )
  for (const text of ['', '[1]', '"x"', 'null']) {
    const path = file('bad.json', text)
    const expected = 'expected a JSON object {"<program id>": "<label>"}'
    t.is(
      await refusal('--from', path),
      `bad_labels_file: --from: 1 fault in ${path}:\n  ${expected}`,
    )
  }
  const path = file('faults.json', JSON.stringify({ HADR: 'Hadron', [QUAY]: 7, [HADRON]: ' ' }))
  t.is(
    await refusal('--from', path),
    [
      `bad_labels_file: --from: 3 faults in ${path}:`,
      '  "HADR": expected a base58 address of 32 bytes',
      `  "${QUAY}": expected a label of 1 to 200 characters`,
      `  "${HADRON}": expected a label of 1 to 200 characters`,
    ].join('\n'),
  )
  const none = file('none.json', '{}')
  t.is(await refusal('--from', none), `bad_labels_file: --from: 1 fault in ${none}:\n  no label`)
})

test('the path of the list is absolute for a process in another folder', (t) => {
  const sent = ['labels', 'diff', '--from', resolve('list.json')]
  t.deepEqual(portableArgs(['labels', 'diff', '--from', 'list.json', '--json']), [
    ...sent,
    '--json',
  ])
  t.deepEqual(portableArgs(['labels', 'diff', '--from=list.json']), [
    'labels',
    'diff',
    `--from=${resolve('list.json')}`,
  ])
})
