import { type Address, addressBytes, parseAddress } from '../domain/address.ts'
import { createKeyTable } from '../domain/key-table.ts'
import { ServiceError } from '../domain/service-error.ts'
import { INFRASTRUCTURE_PROGRAMS } from './infrastructure-programs.ts'

/** A program with a name, whose entry points need not be known (rule B11a). */
export interface ProgramLabel {
  /** The name that is served. */
  readonly name: string
  readonly programId: Address
  /** The program's name in Jupiter's list, where it is more than another spelling of `name`. */
  readonly label: string | null
}

/** Looks up labels by program keys. */
export interface LabelLookup {
  /** The name of the labelled program with these 32 key bytes; null for any other. */
  labelOf(key: Uint8Array): string | null
}

/** Labels in force, which a reload replaces while decoders use them. */
export class LabelTable implements LabelLookup {
  #labels: readonly ProgramLabel[] = []
  #numbers = createKeyTable([])

  constructor(labels: readonly ProgramLabel[]) {
    this.replace(labels)
  }

  get labels(): readonly ProgramLabel[] {
    return this.#labels
  }

  /** Puts other labels in force, from the next decoded transaction on. */
  replace(labels: readonly ProgramLabel[]): void {
    this.#labels = labels
    this.#numbers = createKeyTable(labels.map(({ programId }) => addressBytes(programId)))
  }

  labelOf(key: Uint8Array): string | null {
    const number = this.#numbers.get(key)
    return number === 0 ? null : this.#labels[number - 1]!.name
  }
}

const HEADER = /^name,program_id(,label)?$/
const MAX_CHARACTERS = 1_000_000
const MAX_LABELS = 10_000
/** Maximum number of faults reported for one file; further ones are counted. */
const MAX_FAULTS_SHOWN = 50

/**
 * Parses a table of labels (rule B11a): CSV with the header `name,program_id` or
 * `name,program_id,label`, without quotes. Names have the letters a to z, digits and `_`. Blank
 * lines are allowed. Throws a ServiceError `bad_labels_file` that lists all faults with their
 * lines. `key` is the setting that named the file.
 */
export function parseLabels(
  text: string,
  file: string,
  key = 'PROGRAM_LABELS_FILE',
): readonly ProgramLabel[] {
  const faults: string[] = []
  const labels = text.length > MAX_CHARACTERS ? [] : readLines(text, faults)
  if (text.length > MAX_CHARACTERS) faults.push(`longer than ${MAX_CHARACTERS} characters`)
  else if (labels.length > MAX_LABELS) faults.push(`more than ${MAX_LABELS} labels`)
  else if (labels.length === 0 && faults.length === 0) faults.push('no label')
  if (faults.length === 0) return labels
  const shown = faults.slice(0, MAX_FAULTS_SHOWN)
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`)
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  throw new ServiceError(
    'bad_labels_file',
    `${key}: ${count} in ${file}:\n${shown.map((line) => `  ${line}`).join('\n')}`,
    { context: { file, faults: faults.length } },
  )
}

function readLines(text: string, faults: string[]): ProgramLabel[] {
  const [header = '', ...lines] = text.split('\n')
  if (!HEADER.test(header.trim())) {
    faults.push('line 1: expected name,program_id or name,program_id,label')
    return []
  }
  const seen = new Map<Address, number>()
  return lines.flatMap((raw, at) => {
    if (raw.trim() === '') return []
    const line = at + 2
    const [label, fault] = readLine(raw)
    const first = label === null ? undefined : seen.get(label.programId)
    if (first !== undefined) faults.push(`line ${line}: same program as in line ${first}`)
    if (fault !== null) faults.push(`line ${line}: ${fault}`)
    if (label === null || first !== undefined) return []
    seen.set(label.programId, line)
    return [label]
  })
}

/** The label of a line, or the fault of the line. */
function readLine(raw: string): readonly [ProgramLabel, null] | readonly [null, string] {
  const [name = '', id = '', label = '', ...rest] = raw.split(',').map((field) => field.trim())
  const programId = parseAddress(id)
  if (rest.length > 0) return [null, 'more than three fields']
  if (!/^[a-z0-9][a-z0-9_]{0,63}$/.test(name) || name === 'unknown')
    return [null, 'name: expected 1 to 64 letters a to z, digits and _, not unknown']
  if (programId === null) return [null, 'program_id: expected a base58 address of 32 bytes']
  if (INFRASTRUCTURE_PROGRAMS.some((program) => program.id === programId))
    return [null, 'program_id: part of the chain, on which nothing is traded']
  return [{ name, programId, label: label === '' ? null : label }, null]
}
