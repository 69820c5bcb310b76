import { type ParseArgsConfig, parseArgs } from 'node:util'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'

/** The result of a command: one JSON document for stdout, and whether the exit code is 1. */
export interface CommandResult {
  readonly document: unknown
  readonly failed?: boolean
}

/** One command of `npm run -s operator` (rule J3). Each has a file. */
export interface Command {
  /** Name of the command, for example `account create`. */
  readonly name: string
  /** What the command does, in one sentence for the usage text. */
  readonly summary: string
  /** The options that follow the words, for the usage text. */
  readonly usage: string
  /** Names of the options without a value. */
  readonly flags?: readonly string[]
  /**
   * Whether it does what cannot be undone. It has a flag `dry-run` then: on a terminal its document
   * is shown first, and a question asked.
   */
  readonly asksFirst?: boolean
  /** Whether it runs without the data of the service: of `parts` it uses only `stop`. */
  readonly isStandalone?: boolean
  /**
   * Whether it may make the database of an embedded store. Other commands refuse a `DATA_DIR` that
   * has none: it is not the folder of the service.
   */
  readonly makesDatabase?: boolean
  /**
   * Whether it runs, with these arguments, on a database as it is. For other commands new files of
   * `sql/` are applied first.
   */
  leavesSchema?(args: readonly string[]): boolean
  /**
   * Rewrites arguments so that they mean the same in another process, and when the command is
   * repeated: absolute paths, an idempotency key. Left out, they are used as they are.
   */
  portable?(args: readonly string[]): readonly string[]
  /** The arguments as the audit log stores them. A command without it is not recorded. */
  recorded?(args: readonly string[]): readonly string[]
  /**
   * Whether the command has an option `--reason` itself. For other recorded commands `--reason`
   * goes to the audit log only.
   */
  readonly readsReason?: boolean
  /**
   * Says how to repeat a command that may or may not have been done. `args` are those that
   * `portable` returned.
   */
  retryHint?(args: readonly string[]): string
  /**
   * Checks `args` and runs the command. A long command calls `report` with its progress. Rejects
   * with a ServiceError; `invalid_argument` names the argument.
   */
  run(args: readonly string[], parts: OperatorParts, report: Report): Promise<CommandResult>
}

/**
 * Makes a command with options `--name value`, which the Zod types in `options` read, and flags
 * `--name`.
 */
export function optionCommand<
  Shape extends z.core.$ZodLooseShape,
  const Flag extends string = never,
>(definition: {
  readonly name: string
  readonly summary: string
  /** Left out for a command without options. */
  readonly usage?: string
  readonly options?: Shape
  readonly flags?: readonly Flag[]
  readonly asksFirst?: boolean
  readonly isStandalone?: boolean
  readonly makesDatabase?: boolean
  /** Whether the audit log records the command, with all its arguments. */
  readonly isRecorded?: boolean
  run(
    options: z.output<z.ZodObject<Shape>> & Readonly<Record<Flag, boolean>>,
    parts: OperatorParts,
    report: Report,
  ): Promise<CommandResult>
}): Command {
  const { name, summary, usage = '', options = {} as Shape, flags = [], run } = definition
  return {
    name,
    summary,
    usage,
    flags,
    ...(definition.asksFirst && { asksFirst: true }),
    ...(definition.isStandalone && { isStandalone: true }),
    ...(definition.makesDatabase && { makesDatabase: true }),
    ...(definition.isRecorded && { recorded: (args) => args }),
    readsReason: 'reason' in options,
    async run(args, parts, report) {
      const given = parseOptions(args, Object.keys(options), flags)
      const parsed = z.object(options).safeParse(given)
      if (!parsed.success) {
        const faults = parsed.error.issues.map(
          (issue) =>
            `--${String(issue.path[0])}: ${issue.code === 'invalid_type' ? 'required' : issue.message}`,
        )
        throw new ServiceError('invalid_argument', faults.join('; '))
      }
      const set = Object.fromEntries(flags.map((flag) => [flag, given[flag] === true]))
      return run({ ...parsed.data, ...(set as Record<Flag, boolean>) }, parts, report)
    },
  }
}

/** `--wallet`: the address of a customer's wallet. */
export const walletOption = z.string().transform((text, context): Address => {
  const address = parseAddress(text)
  if (address !== null) return address
  context.addIssue({ code: 'custom', message: 'expected a base58 address of 32 bytes' })
  return z.NEVER
})

/**
 * `--wallet <W3|all>`: returns a function that reads the numbers of these tracked wallets. The
 * function rejects with `wallet_not_found` for a wallet that is not tracked.
 */
export const trackedWalletsOption = z.string().transform((text, context) => {
  const wallet = text === 'all' ? null : parseAlias(text)
  if (text !== 'all' && wallet === null) {
    context.addIssue({ code: 'custom', message: 'expected an alias, for example W3, or all' })
    return z.NEVER
  }
  return async (store: Store): Promise<readonly number[]> => {
    const tracked = (await readTrackedWallets(store)).map((_, at) => at + 1)
    if (wallet === null) return tracked
    if (!tracked.includes(wallet))
      throw new ServiceError('wallet_not_found', `--wallet: ${text} is not tracked`)
    return [wallet]
  }
})

/** `--limit`: most items of a list. */
export const limitOption = (usual: number) =>
  z
    .string()
    .regex(/^([1-9][0-9]{0,3}|10000)$/, 'expected an integer from 1 to 10000')
    .default(String(usual))
    .transform(Number)

/** `--credits`: an integer within bounds, both included. */
export function creditsOption(min: number, max: number) {
  return z.string().transform((text, context) => {
    const credits = /^-?[0-9]{1,13}$/.test(text) ? Number(text) : Number.NaN
    if (credits >= min && credits <= max) return credits
    context.addIssue({ code: 'custom', message: `expected an integer from ${min} to ${max}` })
    return z.NEVER
  })
}

/** `--credits` of a change: a negative number takes credits away. */
export const creditChangeOption = creditsOption(-1_000_000_000_000, 1_000_000_000_000)

/** `--reason`: the reason, for the ledger and the audit log. */
export const reasonOption = z
  .string()
  .trim()
  .min(1, 'expected a text')
  .max(200, 'expected at most 200 characters')

/** Whether a word is the value of the option before it. One that begins with `--` is not. */
export function isValue(words: readonly string[], at: number, flags: readonly string[]): boolean {
  const [option, word] = [words[at - 1], words[at]]
  if (option === undefined || word === undefined || word.startsWith('--')) return false
  return /^--[a-z]+$/.test(option) && !flags.includes(option.slice(2))
}

function parseOptions(
  words: readonly string[],
  names: readonly string[],
  flags: readonly string[],
): Readonly<Record<string, unknown>> {
  // `--credits -20` becomes `--credits=-20`, which parseArgs accepts.
  const args = words.flatMap((word, at) => {
    if (isValue(words, at, flags)) return []
    return isValue(words, at + 1, flags) ? [`${word}=${words[at + 1]}`] : [word]
  })
  const options: NonNullable<ParseArgsConfig['options']> = {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' }])),
  }
  const given = args.map((word) => word.split('=')[0] ?? '')
  const twice = given.find((name, at) => given.indexOf(name) !== at)
  if (twice !== undefined)
    throw new ServiceError('invalid_argument', `${twice}: given more than once`)
  try {
    return parseArgs({ args, options, allowPositionals: false }).values
  } catch (error) {
    throw new ServiceError('invalid_argument', error instanceof Error ? error.message : 'bad flags')
  }
}
