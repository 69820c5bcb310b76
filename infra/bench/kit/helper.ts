import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A process of the bench that answers messages one after the other. */
export class Helper<To extends object, From extends { readonly kind: string }> {
  readonly #child: ChildProcess
  readonly #ended: Promise<never>

  constructor(
    script: string,
    env: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
  ) {
    this.#child = fork(script, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      execArgv: ['--expose-gc', ...flags],
    })
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error('a process of the bench ended')
    })
    this.#ended.catch(() => {}) // it ends at the end, too
  }

  /** Number of the process. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  async hear<K extends From['kind']>(kind: K): Promise<Extract<From, { kind: K }>> {
    const [message] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [From]
    if (message.kind !== kind) throw new Error(`expected ${kind}, got ${message.kind}`)
    return message as Extract<From, { kind: K }>
  }

  ask<K extends From['kind']>(message: To, kind: K): Promise<Extract<From, { kind: K }>> {
    const answer = this.hear(kind)
    this.#child.send(message)
    return answer
  }

  async end(): Promise<void> {
    if ((this.#child.exitCode ?? this.#child.signalCode) !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
