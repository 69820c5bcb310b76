import type { ServerName, ServersState } from './state.ts'

/** One of the servers: how it is installed, configured, started, asked and stopped. */
export interface Server {
  readonly name: ServerName
  /** For people. */
  readonly title: string
  /** The ports it opens, by purpose. */
  ports(base: number): Readonly<Record<string, number>>
  /** Installs what is missing and writes its configuration; gives the command to run. */
  prepare(place: ServerPlace): Promise<Command>
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

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Files that the compiler does not copy stay beside the sources. */
export const SOURCES = new URL('../../../infra/', import.meta.url)
