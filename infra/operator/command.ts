import { type ParseArgsConfig, parseArgs } from 'node:util'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readTrackedWallets } from '../../pipeline/store/tracked-wallets.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'

/** What a command ends with: one JSON document for stdout, and whether it found something wrong (exit code 1). */
export interface Outcome {
  readonly document: unknown
  readonly failed?: boolean
}

/** One command of `npm run -s operator` (rule J3); one file each. */
export interface Command {
  /** Its words, for example `account create`. */
  readonly name: string
  /** What follows the words, for the usage line. */
  readonly usage: string
  /** The arguments as they mean the same in another process, and when they are given again; without it they do as they are. */
  portable?(args: readonly string[]): readonly string[]
  /** The arguments as the audit log records them; a command without it is not recorded. */
  recorded?(args: readonly string[]): readonly string[]
  /** It reads `--reason` itself; of another recorded command the audit log alone is told it. */
  readonly readsReason?: boolean
  /** How to give the command again when nobody knows whether it was done, of `portable` arguments. */
  ifUnclear?(args: readonly string[]): string
  /** Checks `args` and does it; tells `report` how far it is when it takes long. Rejects with a ServiceError; `invalid_argument` names the argument. */
  run(args: readonly string[], parts: OperatorParts, report: Report): Promise<Outcome>
}

/** A command whose options are `--name value`, each required; `schema` checks and converts them. */
export function optionCommand<Shape extends z.core.$ZodLooseShape>(definition: {
  readonly name: string
  readonly usage: string
  readonly options: Shape
  /** Whether the audit log records it, with all its arguments. */
  readonly isRecorded?: boolean
  run(options: z.output<z.ZodObject<Shape>>, parts: OperatorParts, report: Report): Promise<Outcome>
}): Command {
  const { name, usage, options, run } = definition
  const flags = Object.fromEntries(
    Object.keys(options).map((option) => [option, { type: 'string' as const }]),
  )
  return {
    name,
    usage,
    ...(definition.isRecorded && { recorded: (args) => args }),
    readsReason: 'reason' in options,
    async run(args, parts, report) {
      const parsed = z.object(options).safeParse(parseFlags(args, flags))
      if (!parsed.success) {
        const faults = parsed.error.issues.map(
          (issue) =>
            `--${String(issue.path[0])}: ${issue.code === 'invalid_type' ? 'required' : issue.message}`,
        )
        throw new ServiceError('invalid_argument', faults.join('; '))
      }
      return run(parsed.data, parts, report)
    },
  }
}

/** `--wallet`: the wallet a customer connected. */
export const walletOption = z.string().transform((text, context): Address => {
  const address = parseAddress(text)
  if (address !== null) return address
  context.addIssue({ code: 'custom', message: 'expected a base58 address of 32 bytes' })
  return z.NEVER
})

/** `--wallet <W3|all>`: reads which tracked wallets are meant. Rejects with `wallet_not_found` for one that is not tracked. */
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

/** `--credits`: an integer within bounds. */
export function creditsOption(min: number, max: number) {
  return z.string().transform((text, context) => {
    const credits = /^-?[0-9]{1,13}$/.test(text) ? Number(text) : Number.NaN
    if (credits >= min && credits <= max) return credits
    context.addIssue({ code: 'custom', message: `expected an integer from ${min} to ${max}` })
    return z.NEVER
  })
}

/** `--credits` of a change: taken away where below zero. */
export const creditChangeOption = creditsOption(-1_000_000_000_000, 1_000_000_000_000)

/** `--reason`: why, for the ledger and the audit log. */
export const reasonOption = z
  .string()
  .trim()
  .min(1, 'expected a text')
  .max(200, 'expected at most 200 characters')

function parseFlags(words: readonly string[], options: ParseArgsConfig['options'] & object) {
  // `--credits -20` says what `--credits=-20` says: every flag has a value.
  const args = words.flatMap((word, at) => {
    if (words[at - 1]?.match(/^--[a-z]+$/)) return []
    return /^--[a-z]+$/.test(word) && at + 1 < words.length ? [`${word}=${words[at + 1]}`] : [word]
  })
  const names = args.map((word) => word.split('=')[0] ?? '')
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new ServiceError('invalid_argument', `${twice}: is given more than once`)
  try {
    return parseArgs({ args, options, allowPositionals: false }).values
  } catch (error) {
    throw new ServiceError('invalid_argument', error instanceof Error ? error.message : 'bad flags')
  }
}
