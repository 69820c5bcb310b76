import { resolve } from 'node:path'
import { z } from 'zod'
import type { ProgramLabel } from '../../pipeline/decode/labels.ts'
import { knownProgram } from '../../pipeline/decode/registry.ts'
import { type Address, addressBytes, parseAddress } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import { type Command, optionCommand } from './command.ts'

const diff = optionCommand({
  name: 'labels diff',
  summary: "Compares the names of programs in force with a list in Jupiter's form.",
  usage: '--from FILE [--json]',
  options: { from: z.string() },
  flags: ['json'],
  async run({ from: file }, { names }) {
    const list = parseList(await readTextFile('--from', file), file)
    return { document: compareLabels(names.labels.labels, list) }
  },
})

/**
 * `labels diff --from FILE`: compares the labels in force (rule B11a) with a downloaded list in
 * Jupiter's form, `{"<program id>": "<label>"}`, and prints which programs are new, gone and
 * renamed. It changes nothing; the document is JSON with `--json` and without. Rejects with
 * `bad_labels_file`, listing the faults of the file.
 */
export const labelsDiff: Command = {
  ...diff,
  // The process that owns the data reads the file, and may run in another folder.
  portable: (args) =>
    args.map((word, at) =>
      args[at - 1] === '--from' ? resolve(word) : word.replace(/^--from=(.*)$/s, resolved),
    ),
}

const resolved = (_word: string, file: string) => `--from=${resolve(file)}`

/** Labels of a list by program. */
type LabelList = ReadonlyMap<Address, string>

const MAX_CHARACTERS = 5_000_000
const MAX_LABEL = 200
const MAX_FAULTS_SHOWN = 20

function parseList(text: string, file: string): LabelList {
  const faults: string[] = []
  const list = new Map<Address, string>()
  for (const [id, label] of Object.entries(readObject(text, faults))) {
    const programId = parseAddress(id)
    const shown = JSON.stringify(id.slice(0, 60))
    if (programId === null) faults.push(`${shown}: expected a base58 address of 32 bytes`)
    else if (typeof label !== 'string' || label.trim() === '' || label.length > MAX_LABEL)
      faults.push(`${shown}: expected a label of 1 to ${MAX_LABEL} characters`)
    else list.set(programId, label.trim())
  }
  if (faults.length === 0 && list.size === 0) faults.push('no label')
  if (faults.length === 0) return list
  const shown = faults.slice(0, MAX_FAULTS_SHOWN)
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`)
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  throw new ServiceError(
    'bad_labels_file',
    `--from: ${count} in ${file}:\n${shown.map((line) => `  ${line}`).join('\n')}`,
    { context: { file, faults: faults.length } },
  )
}

function readObject(text: string, faults: string[]): object {
  if (text.length > MAX_CHARACTERS) {
    faults.push(`longer than ${MAX_CHARACTERS} characters`)
    return {}
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The fault below says what was expected.
  }
  faults.push('expected a JSON object {"<program id>": "<label>"}')
  return {}
}

/**
 * Compares labels with a list. A program is new if the list has it and neither the labels nor the
 * table of venues do; it is renamed if its label differs in more than spelling. Each group is in
 * the order of its labels or names.
 */
function compareLabels(labels: readonly ProgramLabel[], list: LabelList) {
  const labelled = new Map(labels.map((label) => [label.programId, label]))
  const added = [...list].flatMap(([programId, label]) =>
    labelled.has(programId) || knownProgram(addressBytes(programId)) !== null
      ? []
      : [{ program_id: programId, label, name: nameOf(label) }],
  )
  const gone = labels.filter(({ programId }) => !list.has(programId))
  const renamed = labels.flatMap(({ programId, name, label: known }) => {
    const label = list.get(programId)
    const alike = [name, known ?? name].map(spelling)
    return label === undefined || alike.includes(spelling(label))
      ? []
      : [{ program_id: programId, name, label }]
  })
  return {
    labels: labels.length,
    listed: list.size,
    new: added.sort((a, b) => compareText(a.label, b.label)),
    gone: gone
      .map(({ programId, name }) => ({ program_id: programId, name }))
      .sort((a, b) => compareText(a.name, b.name)),
    renamed: renamed.sort((a, b) => compareText(a.name, b.name)),
  }
}

/** A label without what spelling may change: case, spaces, dashes and the like. */
function spelling(label: string): string {
  return label.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** A name for the table of labels: `Stabble CLMM` gives `stabble_clmm`. */
function nameOf(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
