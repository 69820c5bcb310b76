import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import type { OwnUser } from './own-user.ts'
import type { ServerName, ServersState } from './state.ts'

/** One of the servers: how it is installed, configured, started, asked and stopped. */
export interface Server {
  readonly name: ServerName
  /** For people. */
  readonly title: string
  /** The ports it opens, by purpose. */
  ports(base: number): Readonly<Record<string, number>>
  /** Installs what is missing and writes its configuration; gives the command to run. */
  prepare(place: StartPlace): Promise<LaunchCommand>
  /** Resolves when it answers; rejects when it does not (yet). */
  probe(place: ServerPlace): Promise<void>
  /** Asks it to stop; the process may live on for a while. Rejects when it cannot be asked. */
  askToStop?(place: ServerPlace): Promise<void>
  /** The environment lines that lead to it. */
  env(place: ServerPlace): Readonly<Record<string, string>>
}

/** Where a server lives. */
export interface ServerPlace {
  /** Its own folder, absolute. */
  readonly dir: string
  readonly portBase: number
  readonly secrets: ServersState['secrets']
}

/** Where a server is about to start. */
export interface StartPlace extends ServerPlace {
  /** The user that the server runs as; null: the one of this process. */
  readonly user: OwnUser | null
}

export interface LaunchCommand {
  readonly file: string
  readonly args: readonly string[]
  /** The program starts as root and takes on the server's user itself. */
  readonly dropsRoot?: boolean
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Writes a file of a server's configuration, which may hold passwords or their digests: readable by
 * this process's user and by the server's, writable by the first alone.
 */
export function writeConfigFile(file: string, text: string, user: OwnUser | null): void {
  writeFileSync(file, text, { mode: 0o600 })
  if (user === null) return
  chownSync(file, 0, user.gid)
  chmodSync(file, 0o640)
}

/** Files that the compiler does not copy stay beside the sources. */
export const SOURCES = new URL('../../../infra/', import.meta.url)
