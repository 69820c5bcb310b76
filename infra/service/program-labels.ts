import { LabelTable, parseLabels } from '../../pipeline/decode/labels.ts'
import { createProgramRegistry, type ProgramRegistry } from '../../pipeline/decode/registry.ts'
import { SHIPPED_LABELS } from '../../pipeline/decode/shipped-labels.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import type { ServiceContext } from './context.ts'
import { type Reload, reloadFile } from './reload.ts'

/** The names of programs in force in a process (rule B11a). */
export interface ProgramNames {
  /** The labels in force, which a reload replaces. */
  readonly labels: LabelTable
  /** Programs and labels for decoders, which follow a reload. */
  readonly programs: ProgramRegistry
}

/**
 * Reads the labels of a file, `PROGRAM_LABELS_FILE`; null: those that ship. Rejects with
 * `bad_config` or `bad_labels_file`.
 */
export async function openProgramNames(file: string | null): Promise<ProgramNames> {
  const labels = new LabelTable(file === null ? SHIPPED_LABELS : await readLabels(file))
  return { labels, programs: createProgramRegistry(undefined, labels) }
}

/** The reload of `PROGRAM_LABELS_FILE`; null when it is unset. */
export function reloadLabels(
  { config, logger }: Pick<ServiceContext, 'config' | 'logger'>,
  { labels }: ProgramNames,
): Reload | null {
  const { labelsFile: file } = config
  if (file === null) return null
  return reloadFile(logger, 'labels not read again, the old ones stay in force', async () => {
    labels.replace(await readLabels(file))
    logger.info({ labels: labels.labels.length }, 'labels read again')
  })
}

async function readLabels(file: string) {
  return parseLabels(await readTextFile('PROGRAM_LABELS_FILE', file), file)
}
