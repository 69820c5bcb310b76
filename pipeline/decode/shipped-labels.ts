import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProgramLabel, parseLabels } from './labels.ts'

const FILE = join(import.meta.dirname, '../../../pipeline/decode/labels.csv')

/**
 * The labels that ship with the program, used when `PROGRAM_LABELS_FILE` is unset. Source:
 * Jupiter's list of program labels of 2026-09-27, without the programs whose entry points the
 * registry had then.
 */
export const SHIPPED_LABELS: readonly ProgramLabel[] = parseLabels(
  readFileSync(FILE, 'utf8'),
  FILE,
  'labels.csv',
)
