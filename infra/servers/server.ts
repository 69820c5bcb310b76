import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import type { OwnUser } from './own-user.ts'
import type { NodeName, ServerName, ServersState } from './state.ts'

/** A server, or one node of its cluster: how to install, configure, start, probe and stop it. */
export interface Server {
  /** Also the name of its folder. */
  readonly name: NodeName
  readonly kind: ServerName
  /** The name in messages. */
  readonly title: string
  /** The ports that the server opens, by purpose. */
  ports(base: number): Readonly<Record<string, number>>
  /** Installs what is missing and writes the configuration. Returns the command that starts it. */
  prepare(settings: StartSettings): Promise<LaunchCommand>
  /** Resolves if the server responds; rejects if it does not. */
  probe(settings: ServerSettings): Promise<void>
  /**
   * Asks the server to stop; its process may run on for a while. If it rejects or is left out, the
   * process gets SIGTERM.
   */
  askToStop?(settings: ServerSettings): Promise<void>
  /**
   * The environment variables with which the service finds the server. The nodes of a cluster
   * return the same ones.
   */
  env(settings: ServerSettings): Readonly<Record<string, string>>
}

/** Folder, ports and secrets of a server. */
export interface ServerSettings {
  /** Absolute path of the server's folder. */
  readonly dir: string
  readonly portBase: number
  readonly kafkaClusterId: string
  readonly secrets: ServersState['secrets']
}

/** Folder, ports, secrets and user of a server that is about to start. */
export interface StartSettings extends ServerSettings {
  /** The user that the server runs as; null: the user of this process. */
  readonly user: OwnUser | null
}

/** The command that starts a server. */
export interface LaunchCommand {
  readonly file: string
  readonly args: readonly string[]
  /** Whether the program starts as the user of this process. It may change to its own by itself. */
  readonly startsAsCaller?: boolean
  /** Variables that are added to the environment of the server. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Writes a configuration file, which may hold passwords or their digests. This process's user and
 * the server's user can read it; only the former can write it.
 */
export function writeConfigFile(file: string, text: string, user: OwnUser | null): void {
  writeFileSync(file, text, { mode: 0o600 })
  if (user === null) return
  chownSync(file, 0, user.gid)
  chmodSync(file, 0o640)
}

/** The folder of the sources: the compiler does not copy configuration files to `dist`. */
export const SOURCES = new URL('../../../infra/', import.meta.url)
