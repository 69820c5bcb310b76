import { type ServersKind, withServers } from './servers.ts'

/** What a bench runs on: nothing but its processes, single servers, or clusters of them. */
export type Mode = 'embedded' | ServersKind

/**
 * Reads modes with commas between, in their order. A mode may come again, so that
 * `servers,cluster,servers,cluster` alternates. Null if one is not in `known`.
 */
export function readModes<M extends Mode>(text: string, known: readonly M[]): readonly M[] | null {
  const modes = text.split(',').map((name) => known.find((mode) => mode === name))
  return modes.every((mode) => mode !== undefined) ? modes : null
}

/** Calls `use` with the environment of a mode: an empty one, or as `withServers` does. */
export function withMode(
  mode: Mode,
  use: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  return mode === 'embedded' ? use({}) : withServers(use, mode)
}
