import { createInterface } from 'node:readline/promises'
import type { CommandResult } from './command.ts'

/** The terminal of a process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/**
 * Shows what a command that cannot be undone would do, and asks whether to go on. Returns true
 * without a question where no terminal is: a program has decided. Rejects as `preview` does.
 */
export async function askFirst(
  { stdin, stderr }: Terminal,
  preview: () => Promise<CommandResult>,
): Promise<boolean> {
  if (!stdin.isTTY || !stderr.isTTY) return true
  const { document } = await preview()
  stderr.write(`${JSON.stringify(document, null, 2)}\n`)
  const questions = createInterface({ input: stdin, output: stderr, terminal: false })
  const ended = new Promise<string>((resolve) => questions.once('close', () => resolve('')))
  const answer = await Promise.race([
    questions.question('This cannot be undone. Go on? [y/N] '),
    ended,
  ])
  questions.close()
  return /^y(es)?$/i.test(answer.trim())
}
